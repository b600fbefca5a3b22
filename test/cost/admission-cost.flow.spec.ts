import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Stack } from '../flow/stack.js';
import { type IntentCost, measureIntentCost } from './intent-cost.js';
import { whyNotCounted } from './statements.js';

const plainTool = path.join(import.meta.dirname, '..', 'flow', 'tools', 'effects.keyed.tool.yaml');
const budgets = { calls: 100_000, mutating: 100_000, destructive: 100_000, costMicros: 1e15, wallClockMs: 3_600_000 };

/** A busy machine spoils series. */
const patienceMs = 180_000;

/** Rules of which none ever matches. */
function rules(count: number, when: string): string {
  return Array.from(
    { length: count },
    (_, i) => `  - { name: rule-${i}, when: "${when}", then: deny, message: no }`,
  ).join('\n');
}

describe.each<[string, string, Record<string, number>]>([
  ['twenty rules over the call', rules(20, 'args.amount < 0'), { append: 1, append_moves: 1 }],
  [
    'twenty rules over the call and the taint of the run',
    rules(20, 'args.amount < 0 || run.tainted'),
    { append: 1, append_moves: 1 },
  ],
  [
    'one rule over what the run has done',
    rules(1, 'run.calls > 1000000'),
    { append: 1, append_moves: 1, load_streams: 1, load_facts: 1 },
  ],
  ['twenty of them', rules(20, 'run.calls > 1000000'), { append: 1, append_moves: 1, load_streams: 1, load_facts: 1 }],
])('an intent with a budget of every kind, a rate, a cost, a business key and %s', (_, text, statements) => {
  let folder: string;
  let stack: Stack;
  let cost: IntentCost;
  let reason: string | null;

  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'intendant-admission-cost-'));
    const tool = await readFile(plainTool, 'utf8');
    const limits =
      "ratePerTenant: 100000/s, cost: 'args.amount / 100.0' }\nbusinessKey: { fields: [/ref], window: P1D }";
    const bounded = tool
      .replace('concurrency: 64 }', `concurrency: 64, ${limits}`)
      .replace('required: [ref]', 'required: [ref, amount]');
    await writeFile(path.join(folder, 'effects.keyed.tool.yaml'), bounded);
    const rates = 'rates: { perTenant: 100000/s }';
    await writeFile(path.join(folder, 'x.policy.yaml'), `apiVersion: intendant/policy/v1\n${rates}\nrules:\n${text}\n`);
    stack = await Stack.start({ services: ['standalone'], toolsDir: folder, env: { INTENDANT_POLICY_DIR: folder } });
    reason = await whyNotCounted(stack.database);
    if (reason === null) cost = await measureIntentCost(stack, budgets, 1);
  }, patienceMs);
  afterAll(async () => {
    await stack?.stop();
    await rm(folder, { recursive: true });
  });

  test('costs two transactions, and no statement more for any rule', ({ skip }) => {
    skip(reason !== null, reason ?? '');
    expect(cost.transactions).toBe(2);
    expect(cost.statements).toEqual(statements);
  });
});
