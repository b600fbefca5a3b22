import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startNats } from '@intendant/testing';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { LedgerEntry } from '../history/ledger.js';
import { Channel } from './channel.js';
import { ClientLog } from './client-log.js';
import { Operator, onItsWayMs } from './operator.js';
import { planRound } from './plan.js';
import type { DeadLetter } from './world.js';

let nats: Awaited<ReturnType<typeof startNats>>;
let channel: Channel;
let gateway: Server;
/** What was asked about which intent. */
let asked: Record<string, unknown>[] = [];

beforeAll(async () => {
  gateway = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const [, intentId] = /^\/v1\/intents\/([^/]+)\/resolve$/.exec(request.url ?? '') ?? [];
      const { outcome, externalId } = JSON.parse(Buffer.concat(chunks).toString('utf8'));
      asked.push({ intentId, outcome, ...(externalId && { externalId }) });
      response.writeHead(200).end(JSON.stringify({ intentId, status: 'failed' }));
    });
  });
  gateway.listen(0, '127.0.0.1');
  await once(gateway, 'listening');
  nats = await startNats();
  channel = await Channel.open([`http://127.0.0.1:${(gateway.address() as AddressInfo).port}`], [nats.url]);
});

afterAll(async () => {
  await channel.close();
  await nats.stop();
  gateway.close();
});

const soonMs = 5_000;
const letterOf = (name: string, ageMs: number): DeadLetter => ({
  ...{ intentId: name, ref: name, tool: 'rig.blind', key: `key of ${name}`, runId: 'run_1', stepId: null },
  ...{ attempts: [`attempt of ${name}`], since: Date.now() - ageMs },
});
const sent = (name: string) => ({ path: '/plain/blind', key: `key of ${name}`, attemptId: `attempt of ${name}` });
const request = (name: string): LedgerEntry => ({
  ...{ ...sent(name), kind: 'request', method: 'POST', argsHash: '', seq: 1, at: 0 },
});
const effect = (name: string): LedgerEntry => ({
  ...{ ...sent(name), kind: 'effect', argsHash: '', externalId: `effect of ${name}`, seq: 2, at: 0 },
});

/** An operator who has these on the desk, until as many have been dealt with. */
async function resolved(letters: readonly DeadLetter[], lines: readonly LedgerEntry[], until: number) {
  asked = [];
  const end = new AbortController();
  const [planned] = planRound(1, { short: true, shape: { oldNats: false } }).intents;
  const operator = new Operator({
    intents: letters.map(({ ref }) => ({ ...planned, ref, operator: 'resolve' }) as typeof planned & { ref: string }),
    ...{ channel, log: new ClientLog(), world: { deadLetters: async () => [...letters] }, ledger: async () => lines },
    ...{ operatorKey: 'key', signal: end.signal },
  });
  const work = operator.work();
  await vi.waitFor(() => expect(asked.length).toBeGreaterThanOrEqual(until), 20_000);
  end.abort();
  await work;
  return asked;
}

it('says that nothing happened when the request arrived and had no effect, and what happened when it had one', async () => {
  const letters = ['arrived', 'acted'].map((name) => letterOf(name, soonMs));
  expect(await resolved(letters, [request('arrived'), request('acted'), effect('acted')], 2)).toEqual([
    { intentId: 'arrived', outcome: 'not_executed' },
    { intentId: 'acted', outcome: 'executed', externalId: 'effect of acted' },
  ]);
});

it('says nothing of a request that may still be on its way, until it cannot be any more', async () => {
  const letters = [letterOf('on its way', soonMs), letterOf('lost', onItsWayMs + 1_000)];
  expect(await resolved(letters, [], 1)).toEqual([{ intentId: 'lost', outcome: 'not_executed' }]);
});
