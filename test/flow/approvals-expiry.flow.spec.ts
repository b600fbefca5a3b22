import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { never, onTheWire, People } from './approvals-people.js';
import { audit } from './audit.js';
import { eventually } from './eventually.js';
import { Stack } from './stack.js';

const original = path.join(import.meta.dirname, 'tools', 'effects.approved.tool.yaml');
const ttlMs = 1_500;

let tree: string;
let stack: Stack;
let people: People;
beforeAll(async () => {
  tree = await mkdtemp(path.join(os.tmpdir(), 'intendant-approvals-'));
  const text = (await readFile(original, 'utf8')).replace('ttl: 1h', `ttl: ${ttlMs}ms`);
  await writeFile(path.join(tree, 'effects.approved.tool.yaml'), text);
  stack = await Stack.start({ services: ['gateway', 'policy', 'outbox-relay'], toolsDir: tree });
  people = new People(stack);
});
afterAll(async () => {
  await stack?.stop();
  await rm(tree, { recursive: true });
});

async function asked() {
  const agent = await stack.agent();
  const args = { ref: agent.runId };
  const { intentId: id } = await agent.submit('effects.approved', args, { stepId: 's1' });
  const again = () => agent.submit('effects.approved', args, { stepId: 's1' });
  return { id, digest: (await people.card(id)).digest, again };
}

/** By the clock that decisions are made by. */
async function afterExpiry(id: string): Promise<void> {
  const approvals = (await stack.store.intents.load(id))?.approvals;
  const expiresAt = approvals?.requests.at(-1)?.expiresAt ?? 0;
  await eventually('its time is over', async () => {
    const [row] = await stack.database.query<{ over: boolean }>(
      'SELECT extract(epoch FROM clock_timestamp()) * 1000 > $1::float8 + 50 AS over',
      [expiresAt],
    );
    return row?.over;
  });
}

async function isExpired(id: string, again: Awaited<ReturnType<typeof asked>>['again']): Promise<void> {
  expect(await stack.settled(id)).toBe('denied');
  const told = await again();
  expect(told).toMatchObject({ status: 'denied', outcome: 'not_executed', error: { code: 'approval_expired' } });
  expect(told.error?.message).toContain('Nobody has refused it; ask your user whether it is still wanted.');
  expect(await onTheWire(stack, id)).toEqual(never);
}

describe('an approval whose time is over', () => {
  test('is not taken any more by the API, which ends it (T6)', async () => {
    const { id, digest, again } = await asked();
    await afterExpiry(id);
    const { status, body } = await people.approve(id, 'erin', digest);
    expect([status, JSON.stringify(body)]).toEqual([409, expect.stringContaining('approval_expired')]);
    expect((await people.approve(id, 'frank', digest)).status).toBe(409);
    await isExpired(id, again);
  });

  test('is not used for a dispatch, though it was given in time (T6)', async () => {
    const { id, digest, again } = await asked();
    expect((await people.approve(id, 'erin', digest)).body.status).toBe('authorized');
    await afterExpiry(id);
    // Nobody has swept it: what holds it back is the look of the dispatcher itself.
    expect((await stack.store.intents.load(id))?.state).toBe('authorized');
    const { tool } = (await stack.store.intents.load(id))?.proposal ?? { tool: '' };
    const dispatcher = await stack.launch('dispatcher');
    await isExpired(id, again);
    expect(tool).toBe('effects.approved');
    await dispatcher.stop();
  });

  test('is not used after a pause of its tool that lasted longer (T6)', async () => {
    const dispatcher = await stack.launch('dispatcher');
    const { id, digest, again } = await asked();
    const pause = await stack.operator().put<{ pause: { id: string } }>('/v1/pauses', {
      ...{ tool: 'effects.approved', reason: 'spec', for: '1h' },
    });
    expect(pause.status).toBe(200);
    expect((await people.approve(id, 'erin', digest)).body.status).toBe('authorized');
    await afterExpiry(id);
    const over = await stack.operator().delete(`/v1/pauses/${pause.body.pause.id}`);
    expect(over.status).toBeLessThan(300);
    const reconciler = await stack.launch('reconciler');
    await isExpired(id, again);
    await Promise.all([dispatcher.stop(), reconciler.stop()]);
  }, 40_000);

  test('is ended by the sweeper, whether it was given or not and though nothing dispatches (T6)', async () => {
    const [given, left] = [await asked(), await asked()];
    expect((await people.approve(given.id, 'erin', given.digest)).body.status).toBe('authorized');
    await afterExpiry(left.id);
    const reconciler = await stack.launch('reconciler');
    await isExpired(given.id, given.again);
    await isExpired(left.id, left.again);
    await reconciler.stop();
  });
});

test('in the end log, read model and ledger agree', async () => {
  expect(await audit(stack)).toEqual([]);
});
