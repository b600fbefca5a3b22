import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ModuleUpstream } from '@intendant/contracts';
import {
  describeConformance,
  maxAnswerBytes,
  needsReceipt,
  ScriptedUpstream,
  tooLarge,
  until,
} from '@intendant/testing';
import { behindPort } from './behind-port.spec-helper.js';
import { ModuleAdapter } from './module-adapter.js';

/** Written against the public entry; finds the test's upstream through the global object. */
const module = `
import {
  absent, accepted, cannotTell, defineTool, done, failed, notExecuted, pending, present, type ToolQuestion,
} from 'intendant/tool';

const { script, state, tooLarge } = (globalThis as any)[Symbol.for('intendant.conformance')];
const seen = ({ key, args, sandbox, credential }: ToolQuestion<object>) => ({ key, args, sandbox, credential });

async function working<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  state.open++;
  try {
    return await work();
  } finally {
    state.open--;
  }
}
const given = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));

export default defineTool<object, unknown>({
  execute: (call, { signal }) =>
    working(signal, async () => {
      const { kind, data } = await script.call({ ...seen(call), attemptId: call.attemptId });
      if (kind === 'answer') return data;
      if (kind === 'accept') return accepted(data);
      if (kind === 'refuse') return notExecuted('no');
      if (kind === 'garbage') return () => 'no data';
      if (kind === 'too_large') return { id: tooLarge };
      if (kind === 'hang') return given(signal);
      throw new Error('gone');
    }),
  lookup: (question, { signal }) =>
    working(signal, async () => {
      const { kind, data } = script.lookup(seen(question));
      if (kind === 'hang') return given(signal);
      if (kind === 'error') throw new Error('broken');
      return data.found.length === 0 ? absent() : present(data.found[0]);
    }),
  poll: (question, { signal }) =>
    working(signal, async () => {
      const { kind, data } = script.poll(seen(question), question.accepted);
      if (kind === 'hang') return given(signal);
      if (kind === 'error') throw new Error('broken');
      return data.state === 'done' ? done(data.result) : data.state === 'failed' ? failed('given up') : pending();
    }),
});
`;

describeConformance('module', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'intendant-module-'));
  const path = join(folder, 'tool.ts');
  await writeFile(path, module);
  const script = new ScriptedUpstream();
  const state = { open: 0 };
  Object.assign(globalThis, { [Symbol.for('intendant.conformance')]: { script, state, tooLarge } });
  const upstreamAt = (file: string, credential: string): ModuleUpstream => ({
    kind: 'module',
    name: 'scripted',
    concurrency: 8,
    outcomes: [],
    credential,
    path: file,
    lookup: {},
    poll: {},
  });
  return {
    adapter: behindPort(new ModuleAdapter(needsReceipt, maxAnswerBytes)),
    script,
    real: upstreamAt(path, 'conformance'),
    sandbox: upstreamAt(path, 'conformance_sandbox'),
    unreachable: upstreamAt(join(folder, 'missing.ts'), 'conformance'),
    timeoutMs: 200,
    atRest: () => until(() => state.open === 0, 'no function of the module is running'),
    stop: () => rm(folder, { recursive: true }),
  };
});
