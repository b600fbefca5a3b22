import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Card, never, once, onTheWire, People } from './approvals-people.js';
import { audit } from './audit.js';
import type { Agent } from './clients.js';
import { eventually } from './eventually.js';
import { Stack } from './stack.js';

const original = path.join(import.meta.dirname, 'tools', 'effects.approved.tool.yaml');
const tool = 'effects.ruled';

/** What the files say at first, and what somebody writes while a call waits. */
const over = (amount: number, then = 'require_approval') => `apiVersion: intendant/policy/v1
rules:
  - { name: large, when: args.amount > ${amount}, then: ${then}, message: Over ${amount} }
`;
const first = over(10);

describe.each([
  ['a service each', ['policy', 'dispatcher'], ['gateway', 'outbox-relay', 'reconciler']],
  ['one process', ['standalone'], []],
])('while a call waits for people, the policy files are changed (%s)', (_, restarted, others) => {
  let tree: string;
  let stack: Stack;
  let people: People;

  beforeAll(async () => {
    tree = await mkdtemp(path.join(os.tmpdir(), 'intendant-rules-'));
    const text = await readFile(original, 'utf8');
    const edited = text.replace('name: effects.approved', `name: ${tool}`).replace('required: true', 'required: false');
    await writeFile(path.join(tree, `${tool}.tool.yaml`), edited);
    await writeFile(path.join(tree, 'x.policy.yaml'), first);
    stack = await Stack.start({
      services: [...restarted, ...others],
      toolsDir: tree,
      env: { INTENDANT_POLICY_DIR: tree },
    });
    people = new People(stack);
  }, 60_000);
  afterAll(async () => {
    await stack?.stop();
    await rm(tree, { recursive: true });
  });

  /** With other policy files from then on. */
  async function restart(policy: string): Promise<void> {
    await Promise.all(stack.services.filter(({ name }) => restarted.includes(name)).map((service) => service.stop()));
    await writeFile(path.join(tree, 'x.policy.yaml'), policy);
    await Promise.all(restarted.map((name) => stack.launch(name)));
  }

  async function asked(stepId: string): Promise<{ agent: Agent; intentId: string; card: Card }> {
    const agent = await stack.agent();
    const { intentId, status } = await agent.submit(tool, { ref: agent.runId, amount: 20 }, { stepId });
    expect(status).toBe('awaiting_approval');
    return { agent, intentId, card: await people.card(intentId) };
  }

  test('so that they deny it: what was agreed to is not sent, and the agent reads which rule it was', async () => {
    const { agent, intentId, card } = await asked('s1');
    await restart(over(10, 'deny'));
    expect((await people.approve(intentId, 'erin', card.digest)).status).toBe(200);
    expect(await stack.settled(intentId)).toBe('denied');
    expect(await onTheWire(stack, intentId)).toEqual(never);
    const answer = await agent.submit(tool, { ref: agent.runId, amount: 20 }, { stepId: 's1' });
    expect(answer).toMatchObject({
      ...{ intentId, status: 'denied', replayed: true },
      error: {
        code: 'rule_denied',
        details: { rule: 'large' },
        message: expect.stringMatching(/^Over 10\. Nothing was sent\./),
      },
    });
    await restart(first);
  }, 90_000);

  test('so that they ask for another reason: the card has it, and what is agreed to then is done once', async () => {
    const { intentId, card } = await asked('s1');
    expect(card.why).toEqual([{ rule: 'large', message: 'Over 10.' }]);
    await restart(over(15));
    expect((await people.approve(intentId, 'erin', card.digest)).status).toBe(200);
    await eventually('the card says what the rules say now', async () => {
      const { why } = await people.card(intentId);
      return why[0]?.message === 'Over 15.';
    });
    expect(await onTheWire(stack, intentId)).toEqual(never);
    const anew = await people.card(intentId);
    expect(anew).toMatchObject({ status: 'awaiting_approval', differs: ['the policy files'], given: [] });
    expect((await people.approve(intentId, 'erin', anew.digest)).status).toBe(200);
    expect(await stack.settled(intentId)).toBe('committed');
    expect(await onTheWire(stack, intentId)).toEqual(once);
    await restart(first);
  }, 90_000);

  test('and then changed back: what was agreed to first still counts, without anybody being asked', async () => {
    const { intentId, card } = await asked('s1');
    await restart(over(15));
    expect((await people.approve(intentId, 'erin', card.digest)).status).toBe(200);
    await eventually('it is asked about anew', async () => {
      const { digest, differs } = await people.card(intentId);
      return digest !== card.digest && differs.length > 0;
    });
    await restart(first);
    expect(await stack.settled(intentId, 30_000)).toBe('committed');
    expect(await onTheWire(stack, intentId)).toEqual(once);
    const history = await stack.store.intents.history(intentId);
    expect(history.filter(({ event }) => event.type === 'approved')).toHaveLength(1);
  }, 90_000);

  test('in the end log, read model and ledger agree', async () => {
    expect(await audit(stack)).toEqual([]);
  });
});
