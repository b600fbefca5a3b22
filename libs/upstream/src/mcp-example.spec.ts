import { fileURLToPath } from 'node:url';
import { loadTools } from '@intendant/tools';
import { expect, test } from 'vitest';
import { Upstreams } from './index.js';

const folder = fileURLToPath(new URL('../../../examples/tools-mcp', import.meta.url));

test('the example is a tool file that loads, and its server keeps what it is said to keep', async () => {
  const tool = (await loadTools(folder, process.env)).get('notes.add');
  if (tool === undefined) throw new Error('no notes.add');
  const upstreams = new Upstreams(() => null);
  const request = { tool, args: { text: 'hi' }, key: 'k', intentId: 'i', tenant: 't', runId: 'r', sandbox: false };
  const note = { note_id: 'note-1', text: 'hi' };
  expect(await upstreams.lookup(request)).toEqual({ kind: 'absent' });
  for (const attemptId of ['a-1', 'a-2']) {
    const verdict = await upstreams.call({ ...request, attemptId }, { mayStart: () => true });
    expect(verdict).toEqual({ kind: 'executed', data: note });
  }
  expect(await upstreams.lookup(request)).toEqual({ kind: 'present', data: note });
  await upstreams.close();
});
