import { type Budgets, noBudgets, streams } from '@intendant/contracts';
import { jetstreamManager } from '@nats-io/jetstream';
import type { Agent } from '../flow/clients.js';
import { eventually } from '../flow/eventually.js';
import type { Stack } from '../flow/stack.js';
import { callsByName, countStatements, forgetStatements, type StatementCount } from './statements.js';

/** What one intent costs, on average over many that go through one at a time. */
export interface IntentCost {
  /** Calls by name, without those that come by the clock. */
  readonly statements: Readonly<Record<string, number>>;
  /** Transactions that wrote to the event log. */
  readonly transactions: number;
  /** Messages that JetStream stored. */
  readonly events: number;
  readonly doorbells: number;
  /** Outbox rows that were deleted after their publication. */
  readonly deleted: number;
  readonly walBytes: number;
}

interface Counts {
  readonly statements: readonly StatementCount[];
  readonly transactions: number;
  readonly events: number;
  readonly doorbells: number;
}

const series = 4;
const intentsOfSeries = 50;
/** Series that a busy machine may spoil before the test gives up. */
const mostSpoiled = 40;
/** Whoever waits for an outcome looks into the log by itself after 125 ms: such a look is counted, but is no rule. */
const slowMs = 100;

/** Several series of intents, none of them held up or with the images of whole pages in its WAL. */
export async function measureIntentCost(
  stack: Stack,
  budgets: Budgets = noBudgets,
  wanted = series,
): Promise<IntentCost> {
  const agent = await stack.agent({}, 3_600_000, budgets);
  const submit = submitter(agent);
  await measureSeries(stack, submit);
  const measured: Counts[] = [];
  const spoiled: string[] = [];
  while (measured.length < wanted) {
    const { counts, slowest } = await measureSeries(stack, submit);
    const pageImages = sum(counts.statements, (each) => each.pageImages);
    if (slowest < slowMs && pageImages === 0) measured.push(counts);
    else spoiled.push(`slowest ${slowest.toFixed(0)} ms, ${pageImages} page images`);
    if (spoiled.length > mostSpoiled) throw new Error(`nothing can be counted here: ${spoiled.slice(-5).join('; ')}`);
  }
  return perIntent(measured);
}

/** Submits one more intent, waits for its outcome and gives its id. */
type Submit = () => Promise<string>;

function submitter(agent: Agent): Submit {
  let next = 100_000;
  return async () => {
    // Always as long: the bytes of WAL are compared.
    const ref = `ref_${next++}`;
    const result = await agent.submit('effects.keyed', { ref, amount: 2_499 }, { stepId: ref, wait: '20s' });
    if (result.status !== 'committed') throw new Error(`${ref} did not come through: ${JSON.stringify(result)}`);
    return result.intentId;
  };
}

async function measureSeries(stack: Stack, submit: Submit): Promise<{ counts: Counts; slowest: number }> {
  await forgetStatements(stack.database);
  const before = await stored(stack);
  const ids: string[] = [];
  let slowest = 0;
  for (let i = 0; i < intentsOfSeries; i += 1) {
    const from = performance.now();
    ids.push(await submit());
    slowest = Math.max(slowest, performance.now() - from);
  }
  await eventually('all messages are published and deleted', async () => {
    const [row] = await stack.database.query<{ left: number }>('SELECT count(*)::int AS left FROM outbox');
    return row?.left === 0;
  });
  const statements = await countStatements(stack.database);
  const after = await stored(stack);
  const [row] = await stack.database.query<{ transactions: number }>(
    'SELECT count(DISTINCT xmin::text)::int AS transactions FROM events WHERE intent_id = ANY ($1)',
    [ids],
  );
  const transactions = row?.transactions ?? Number.NaN;
  const events = after.events - before.events;
  return { counts: { statements, transactions, events, doorbells: after.doorbells - before.doorbells }, slowest };
}

async function stored(stack: Stack): Promise<{ events: number; doorbells: number }> {
  const manager = await jetstreamManager(stack.bus);
  const last = async (stream: string) => (await manager.streams.info(stream)).state.last_seq;
  return { events: await last(streams.events), doorbells: await last(streams.work) };
}

function perIntent(measured: readonly Counts[]): IntentCost {
  const intents = measured.length * intentsOfSeries;
  const statements = measured.flatMap((counts) => counts.statements);
  const calls = Object.entries(callsByName(statements)).map(([name, count]) => [name, count / intents] as const);
  const deleting = statements.filter(({ name }) => name === 'delete_outbox');
  return {
    statements: Object.fromEntries(calls),
    transactions: sum(measured, (counts) => counts.transactions) / intents,
    events: sum(measured, (counts) => counts.events) / intents,
    doorbells: sum(measured, (counts) => counts.doorbells) / intents,
    deleted: sum(deleting, ({ rows }) => rows) / intents,
    walBytes: sum(statements, ({ walBytes }) => walBytes) / intents,
  };
}

function sum<T>(list: readonly T[], value: (each: T) => number): number {
  return list.reduce((total, each) => total + value(each), 0);
}
