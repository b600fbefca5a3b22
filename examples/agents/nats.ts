/**
 * An agent over NATS alone. Its runtime opens a run; the agent then calls one tool twice, by request and by publish.
 *
 *   node dist/examples/agents/nats.js payments.refund.create \
 *     '{"order_id":"ord_1","amount_cents":2499}' '{"order_id":"ord_2","amount_cents":990}'
 *
 * Environment: INTENDANT_NATS_URL, INTENDANT_TENANT and INTENDANT_SERVICE_KEY of the runtime.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { connect, headers, type NatsConnection, RequestError, TimeoutError } from '@nats-io/transport-node';

/** What every answer about an intent has, and the events too (as `data`). docs/asyncapi.json has the rest. */
interface Result {
  readonly intentId: string;
  readonly stepId: string | null;
  readonly status: string;
  readonly outcome: string;
  readonly replayed: boolean;
  readonly data: unknown;
  /** What it waits for, or what of the data is not shown. */
  readonly summary: string | null;
  readonly error: { readonly code: string; readonly message: string } | null;
}
/** An answer is a result, or only an error: then nothing was recorded. */
type Answer = Result | Pick<Result, 'error'>;

interface Stored {
  readonly seq?: number;
  readonly error?: { readonly description: string };
}
interface Run {
  readonly tenant: string;
  readonly runId: string;
  readonly token: string;
}
interface Call {
  readonly tool: string;
  readonly args: object;
  /** The same whenever the same call is made again, and another one for another call. */
  readonly stepId: string;
}

const waitMs = 3_000;
const patienceMs = 120_000;
/** After these an intent stays as it is, until a person does something about it. */
const ends = ['committed', 'failed', 'denied', 'cancelled', 'expired', 'dead_lettered'];
/** These two say nothing: nobody knows whether it was recorded. */
const saysNothing = ['unavailable', 'internal'];

/**
 * Asks until there is an answer that says something. To send the same step again is always safe: it takes effect once
 * at most, and every answer is about that one intent.
 */
async function insist<T>(nats: NatsConnection, subject: string, credential: string, message: object): Promise<T> {
  const head = headers();
  head.set('Authorization', `Bearer ${credential}`);
  head.set('Intendant-Wait', `${waitMs}ms`);
  for (const deadline = Date.now() + patienceMs; Date.now() < deadline; await delay(500)) {
    try {
      const reply = await nats.request(subject, JSON.stringify(message), { headers: head, timeout: 2 * waitMs });
      if (!saysNothing.includes(reply.headers?.get('Intendant-Error') ?? '')) return reply.json<T>();
    } catch (error) {
      // Nobody listens, or the answer was lost on its way. Everything else is a mistake of this program.
      if (!(error instanceof TimeoutError || error instanceof RequestError)) throw error;
    }
    console.log(`no answer on ${subject}; asking again`);
  }
  throw new Error(`nobody answered on ${subject} for ${patienceMs / 1_000} s`);
}

/** Publishes the call and follows the events of the run, up to the end of this step. Events may be missed: they are news. */
async function publishAndFollow(nats: NatsConnection, run: Run, call: Call): Promise<void> {
  const events = nats.subscribe(`intendant.events.${run.tenant}.${run.runId}.>`);
  const impatience = setTimeout(() => events.unsubscribe(), waitMs);
  // JetStream answers to whoever publishes by request: then it is stored, and will be admitted even if all services are
  // down now. What cannot be admitted is kept for an operator, and no event tells of it.
  const stored = await insist<Stored>(nats, `intendant.intents.${run.tenant}`, run.token, call);
  if (stored.error) throw new Error(`not stored: ${stored.error.description}`);
  console.log('stored as', stored.seq);
  for await (const event of events) {
    const { type, data } = event.json<{ type: string; data: Result }>();
    if (data.stepId !== call.stepId) continue;
    console.log('event', type, data.outcome);
    if (ends.includes(data.status)) break;
  }
  clearTimeout(impatience);
}

function told(answer: Answer): string {
  if (!('intentId' in answer)) return `refused: ${answer.error?.message}`;
  const { intentId, status, outcome, replayed, data, summary, error } = answer;
  return `${intentId} ${status} ${outcome}${replayed ? ' (replayed)' : ''}: ${error?.message ?? summary ?? JSON.stringify(data)}`;
}

async function main([tool, args, others = args]: readonly string[]): Promise<void> {
  if (tool === undefined || args === undefined || others === undefined) {
    throw new Error('usage: nats.js <tool> <arguments as JSON> [<arguments of the second call>]');
  }
  const first: Call = { tool, args: JSON.parse(args), stepId: 's1' };
  const second: Call = { tool, args: JSON.parse(others), stepId: 's2' };
  const { INTENDANT_NATS_URL, INTENDANT_TENANT: tenant = '', INTENDANT_SERVICE_KEY = '' } = process.env;
  // Where the operator gives each client an inbox of its own, add inboxPrefix.
  const nats = await connect({ ...(INTENDANT_NATS_URL && { servers: INTENDANT_NATS_URL }), maxReconnectAttempts: -1 });
  try {
    const wanted = { user: 'ada', permissions: ['*'], profile: 'interactive', budgets: { destructive: 2 } };
    const opened = await insist<Run & Answer>(nats, 'intendant.rpc.open_run', INTENDANT_SERVICE_KEY, wanted);
    if (opened.error) throw new Error(opened.error.message);
    const run = { ...opened, tenant };
    const submit = (call: Call) => insist<Answer>(nats, 'intendant.rpc.submit', run.token, call);

    console.log('by request', told(await submit(first)));

    await publishAndFollow(nats, run, second);
    // The same step once more: how it stands now, or why it was never admitted.
    console.log('by publish', told(await submit(second)));
  } finally {
    await nats.close();
  }
}

await main(process.argv.slice(2)).catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
