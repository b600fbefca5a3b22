import type { ErrorObject, IntentResult } from '@intendant/contracts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { never, once, onTheWire, People } from './approvals-people.js';
import { audit } from './audit.js';
import { Operator } from './clients.js';
import { keyOf, Stack } from './stack.js';

type Result = { readonly id: string; readonly result?: IntentResult; readonly error?: ErrorObject };

let stack: Stack;
let people: People;
let gateways: readonly string[];
beforeAll(async () => {
  const services = ['gateway', 'gateway', 'policy', 'outbox-relay', 'dispatcher', 'dispatcher', 'reconciler'];
  stack = await Stack.start({ services });
  people = new People(stack);
  gateways = stack.services.filter(({ name }) => name === 'gateway').map(({ url }) => url);
});
afterAll(() => stack?.stop());

async function asked(ref: string): Promise<{ readonly id: string; readonly digest: string }> {
  const agent = await stack.agent();
  const { intentId: id } = await agent.submit('effects.approved', { ref }, { stepId: 's1' });
  return { id, digest: (await people.card(id)).digest };
}

describe('a list of decisions', () => {
  const decide = (decisions: readonly object[]) =>
    stack.person('erin').post<{ results?: readonly Result[] }>('/v1/approvals/decide', { decisions });

  test('that names one intent twice approves it once (S05)', async () => {
    const { id, digest } = await asked('named twice');
    const twice = { id, digest, decision: 'approve' };
    const { status, body } = await decide([twice, twice]);
    expect([status, body.results?.map((each) => each.id)]).toEqual([200, [id]]);
    expect(await stack.settled(id)).toBe('committed');
    expect(await onTheWire(stack, id)).toEqual(once);
  });

  test('that approves and refuses one intent is an error, and nothing of it is done (S05)', async () => {
    const [both, sibling] = [await asked('in both'), await asked('beside it')];
    const { status, body } = await decide([
      { ...sibling, decision: 'approve' },
      { ...both, decision: 'approve' },
      { ...both, decision: 'refuse', reason: 'no' },
    ]);
    expect(status).toBe(422);
    expect(JSON.stringify(body)).toContain(`Intent ${both.id} is decided twice`);
    for (const { id } of [both, sibling]) {
      expect((await people.card(id)).status).toBe('awaiting_approval');
      expect(await onTheWire(stack, id)).toEqual(never);
    }
  });

  test('refuses one without a word about its siblings (S05)', async () => {
    const [yes, no, stale] = [await asked('yes'), await asked('no'), await asked('stale')];
    const { body } = await decide([
      { ...yes, decision: 'approve' },
      { ...no, decision: 'refuse', reason: 'no' },
      { ...stale, digest: yes.digest, decision: 'approve' },
    ]);
    expect(body.results?.map(({ result, error }) => error?.code ?? result?.outcome)).toEqual([
      expect.stringMatching(/undecided|executed/),
      'not_executed',
      'conflict',
    ]);
    expect(await stack.settled(yes.id)).toBe('committed');
    expect(await stack.settled(no.id)).toBe('denied');
    expect((await people.card(stale.id)).status).toBe('awaiting_approval');
    expect([await onTheWire(stack, no.id), await onTheWire(stack, stale.id)]).toEqual([never, never]);
  });
});

describe('people who decide at once', () => {
  const at = (gateway: number, person: 'erin' | 'frank') =>
    new Operator(() => gateways[gateway] as string, keyOf(person));

  test('and agree on two gateways have it done once, and read the same (S06)', async () => {
    for (let i = 0; i < 20; i += 1) {
      const { id, digest } = await asked(`race ${i}`);
      const path = `/v1/approvals/${id}/approve`;
      const answers = await Promise.all([
        at(0, 'erin').post<IntentResult>(path, { digest }),
        at(1, 'frank').post<IntentResult>(path, { digest }),
      ]);
      for (const { status, body } of answers) expect([status, body.intentId]).toEqual([200, id]);
      expect(await stack.settled(id)).toBe('committed');
      const again = await Promise.all([0, 1].map((gateway) => at(gateway, 'erin').post(path, { digest })));
      expect(again[0]).toEqual(again[1]);
      expect(await onTheWire(stack, id)).toEqual(once);
    }
  }, 60_000);

  test('and say yes and no get one outcome, which both of them are told (S06)', async () => {
    const ends = new Set<string>();
    for (let i = 0; i < 30; i += 1) {
      const { id, digest } = await asked(`yes or no ${i}`);
      const yes = () => at(i % 2, 'erin').post<IntentResult>(`/v1/approvals/${id}/approve`, { digest });
      const no = () =>
        at(1 - (i % 2), 'frank').post<IntentResult>(`/v1/approvals/${id}/refuse`, { reason: 'no', digest });
      // Now the one is a little earlier, and now the other.
      const [approved, refused] = i % 3 === 0 ? await Promise.all([yes(), no()]) : await inTurn(yes, no, i % 3 === 1);
      const end = await stack.settled(id);
      ends.add(end);
      const { effects } = await onTheWire(stack, id);
      if (refused.status === 200) {
        expect([end, effects, refused.body.status]).toEqual(['denied', 0, 'denied']);
      } else {
        expect([end, effects, refused.status]).toEqual(['committed', 1, 409]);
        expect(approved.status).toBe(200);
      }
      if (approved.status !== 200) expect([approved.status, end]).toEqual([409, 'denied']);
    }
    expect([...ends].sort()).toEqual(['committed', 'denied']);
  }, 90_000);
});

/** Both, the first of them a moment earlier. */
async function inTurn<T>(yes: () => Promise<T>, no: () => Promise<T>, yesFirst: boolean): Promise<[T, T]> {
  if (yesFirst) {
    const approved = await yes();
    return [approved, await no()];
  }
  const refused = await no();
  return [await yes(), refused];
}

describe('a run', () => {
  test('that is resumed from its start after people have agreed does nothing again (S07)', async () => {
    const agent = await stack.agent();
    const step = (tool: string, ref: string, wait?: string) =>
      agent.submit(tool, { ref: `${agent.runId} ${ref}` }, { stepId: ref, ...(wait && { wait }) });
    const before = [await step('effects.keyed', 'first', '20s'), await step('effects.approved', 'second')];
    expect(before.map(({ status }) => status)).toEqual(['committed', 'awaiting_approval']);
    const id = before[1]?.intentId ?? '';
    await people.approve(id);
    expect(await stack.settled(id)).toBe('committed');
    for (let resumes = 0; resumes < 3; resumes += 1) {
      const resumed = [await step('effects.keyed', 'first', '20s'), await step('effects.approved', 'second', '20s')];
      expect(resumed.map(({ intentId, replayed, status }) => [intentId, replayed, status])).toEqual(
        before.map(({ intentId }) => [intentId, true, 'committed']),
      );
    }
    for (const { intentId } of before) expect(await onTheWire(stack, intentId)).toEqual(once);
  });
});

test('in the end log, read model and ledger agree', async () => {
  const open = (await audit(stack)).filter((text) => !/is awaiting_approval, and the ledger has 0 effects/.test(text));
  expect(open).toEqual([]);
});
