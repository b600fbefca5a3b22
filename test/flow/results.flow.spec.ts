import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { type IntentCloudEvent, streams } from '@intendant/contracts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from './eventually.js';
import { HttpClient } from './http-client.js';
import { operatorKey, Stack } from './stack.js';
import { messagesOf } from './stream-listing.js';

const toolsDir = path.join(path.dirname(fileURLToPath(import.meta.url)), 'tools-results');
let stack: Stack;
let http: HttpClient;
beforeAll(async () => {
  stack = await Stack.start({ services: ['policy', 'outbox-relay', 'dispatcher', 'reconciler', 'gateway'], toolsDir });
  http = new HttpClient(() => stack.url);
});
afterAll(() => stack?.stop());

async function announced(intentId: string): Promise<IntentCloudEvent[]> {
  const events = (await messagesOf(stack, streams.events)).map(
    ({ payload }) => JSON.parse(payload) as IntentCloudEvent,
  );
  return events.filter(({ subject }) => subject === intentId);
}

const note = (n: number) => ({ id: `note-${n}`, text: 'paid with [redacted]' });
const notes = (length: number) => Array.from({ length }, (_, n) => note(n));

test('a list is the same short one on every surface, without what nobody reads, and the handle has the rest', async () => {
  const agent = await stack.agent();
  const call = { tool: 'notes.list', args: { length: 400 }, stepId: 's1' };
  const result = await agent.request(JSON.stringify(call), '20s');
  const shown = {
    ...{ status: 'committed', total: 3_412, handle: `res_${result.intentId}`, untrusted: true },
    summary:
      'Showing 20 of 3,412, newest first; narrow with status=. The handle reads the 400 that notes.list was given.',
    data: { items: notes(20), count: 3_412, owner: { phone: '[redacted]' } },
  };
  expect(result).toMatchObject(shown);
  expect((await http.http('GET', `/v1/intents/${result.intentId}`, agent.token)).body).toMatchObject(shown);
  expect((await http.http('GET', `/v1/intents/${result.intentId}`, operatorKey)).body).toMatchObject(shown);
  await eventually('it was announced', async () => (await announced(result.intentId)).length > 0);
  expect(await announced(result.intentId)).toMatchObject([{ type: 'intendant.intent.committed', data: shown }]);

  const page = await http.http('GET', `/v1/results/${result.handle}?cursor=390`, agent.token);
  expect(page).toMatchObject({
    status: 200,
    body: { data: notes(400).slice(390), total: 400, nextCursor: null, untrusted: true },
  });
  const kept = JSON.stringify(await stack.store.intents.history(result.intentId));
  expect(kept).toContain('note-399');
  expect(kept).not.toMatch(/4111|555-0199/);
});

test('what is too large even when it is shortened is told of, and nothing of it shown', async () => {
  const agent = await stack.agent();
  const call = { tool: 'notes.list', args: { length: 400, limit: 100 }, stepId: 's1' };
  const result = await agent.request(JSON.stringify(call), '20s');
  expect(result).toMatchObject({ status: 'committed', outcome: 'executed', data: null, total: 3_412 });
  expect(result.summary).toMatch(
    /^notes\.list answered [\d,]+ bytes of JSON, more than the 4,096 that are shown: an object of 3\. It lists 400 of 3,412\./,
  );
});
