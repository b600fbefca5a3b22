import { existsSync, readFileSync } from 'node:fs';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Argv, ProcessUpstream, ToolDefinition } from '@intendant/contracts';
import type { JsonObject } from '@intendant/intent';
import { lookupReading, needsReceipt, pollReading, toolOf, until } from '@intendant/testing';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { CallOptions } from './adapter.js';
import { ProcessAdapter } from './process-adapter.js';
import { isAlive } from './process-harness.spec-helper.js';

let folder: string;
let adapter: ProcessAdapter;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'intendant-process-'));
  adapter = new ProcessAdapter(needsReceipt);
});
afterEach(async () => {
  await adapter.close();
  // Every test writes here whom it has started.
  for (const pid of started()) expect(isRunning(pid), `process ${pid} runs on`).toBe(false);
  await rm(folder, { recursive: true });
});

interface Changes {
  readonly upstream?: Partial<ProcessUpstream>;
  readonly tool?: Partial<ToolDefinition>;
  readonly limits?: Partial<ToolDefinition['limits']>;
  readonly args?: JsonObject;
  readonly secret?: string;
}

const at = (argv: Argv, changes: Partial<ProcessUpstream> = {}): ProcessUpstream => ({
  kind: 'process',
  name: 'local',
  concurrency: 8,
  outcomes: [],
  credential: null,
  argv,
  cwd: folder,
  env: {},
  input: '$args',
  maxOutputBytes: 10_000,
  exits: {},
  lookup: null,
  poll: null,
  ...changes,
});

const taskOf = (argv: Argv, { upstream, tool, limits, args = {}, secret }: Changes) => {
  const local = at(argv, upstream);
  const request = { tool: toolOf(local, tool, limits), args, key: 'key-1', intentId: 'intent-1', runId: 'run_1' };
  return {
    upstream: local,
    request: { ...request, tenant: 't', attemptId: 'attempt-1', sandbox: false },
    credential: secret === undefined ? null : { secret, header: { name: 'Authorization', value: secret } },
  };
};
const call = (argv: Argv, changes: Changes = {}, options: Partial<CallOptions> = {}) =>
  adapter.call(taskOf(argv, changes), { mayStart: () => true, ...options });

const sh = (script: string, ...args: string[]): Argv => ['/bin/sh', '-c', script, 'sh', ...args];
/** Prints what it was given, as the receipt. */
const echo = (...args: string[]): Argv => [
  process.execPath,
  '-e',
  'console.log(JSON.stringify({ id: 1, args: process.argv.slice(1), env: process.env }))',
  '--',
  ...args,
];
const good = 'echo \'{"id":"r1"}\'';

/** Notes a process: its own id, or that of the last one it left in the background. */
const noteSelf = 'echo $$ >> pids';
const noteChild = 'echo $! >> pids';
const started = () =>
  existsSync(join(folder, 'pids')) ? readFileSync(join(folder, 'pids'), 'utf8').trim().split('\n').map(Number) : [];
const haveStarted = (count: number) => until(() => started().length >= count, `${count} processes have started`);

/** More than a zombie that nobody has fetched yet. */
function isRunning(pid: number): boolean {
  if (!isAlive(pid)) return false;
  const stat = existsSync(`/proc/${pid}/stat`) ? readFileSync(`/proc/${pid}/stat`, 'utf8') : '';
  return !/\) [ZX] /.test(stat);
}

test('a program gets its arguments as they are, one each, and nobody expands them', async () => {
  const args = { order: '$(touch made) `touch made`; touch made\n"two words" *', amount: 5 };
  const argv = echo('--order={{order}}', '{{order}}', '{{args.amount}}', '{{key}}', '{{intentId}}', 'a b');
  const verdict = await call(argv, { args });
  expect(verdict).toMatchObject({
    kind: 'executed',
    data: { args: [`--order=${args.order}`, args.order, '5', 'key-1', 'intent-1', 'a b'] },
  });
  expect(existsSync(join(folder, 'made'))).toBe(false);
});

test.each([
  { name: 'is missing', item: '{{missing}}', value: 'x' },
  { name: 'is an object', item: '{{order}}', value: {} },
  { name: 'would be an option', item: '{{order}}', value: '--force' },
  { name: 'has a NUL', item: '{{order}}', value: 'a\0b' },
])('a value that $name makes no request', async ({ item, value }) => {
  const argv: Argv = ['/bin/sh', '-c', `${noteSelf}; ${good}`, item];
  expect(await call(argv, { args: { order: value } })).toMatchObject({
    kind: 'not_executed',
    cause: 'request_mapping',
    transient: false,
    sent: false,
  });
  expect(started()).toEqual([]);
});

test('a value that looks like an option is a plain argument after "--", and inside an item', async () => {
  const args = { order: '--force' };
  expect(await call(echo('{{order}}', 'x={{order}}'), { args })).toMatchObject({
    kind: 'executed',
    data: { args: ['--force', 'x=--force'] },
  });
});

test('nobody but the tool file chooses the program', async () => {
  expect(await call(['{{order}}'], { args: { order: '/bin/true' } })).toMatchObject({ cause: 'request_mapping' });
});

test('a program inherits nothing of the service but where programs are and the locale', async () => {
  process.env['PLANTED_SECRET'] = 'of the service';
  const verdict = await call(echo(), { upstream: { env: { MODE: 'x' } }, secret: 's3cret' });
  delete process.env['PLANTED_SECRET'];
  const { env } = (verdict as unknown as { data: { env: Record<string, string> } }).data;
  const { PATH, LANG, LC_ALL, ...rest } = env;
  expect(PATH).toBe(process.env['PATH']);
  expect([LANG, LC_ALL]).toEqual([process.env['LANG'], process.env['LC_ALL']]);
  // macOS adds this by itself.
  delete rest['__CF_USER_TEXT_ENCODING'];
  expect(rest).toEqual({
    MODE: 'x',
    INTENDANT_KEY: 'key-1',
    INTENDANT_INTENT_ID: 'intent-1',
    INTENDANT_ATTEMPT_ID: 'attempt-1',
    INTENDANT_CREDENTIAL: 's3cret',
  });
});

test('a program reads what the input expression makes', async () => {
  const upstream = { input: '{ "id": key, "attempt": attemptId, "order": $args.order }' };
  expect(await call(['/bin/cat'], { upstream, args: { order: 'o1' } })).toEqual({
    kind: 'executed',
    data: { id: 'key-1', attempt: 'attempt-1', order: 'o1' },
  });
  expect(await call(['/bin/cat'], { upstream: { input: 'nothing' } })).toMatchObject({ cause: 'request_mapping' });
});

test('a program that does not read a large input may succeed all the same', async () => {
  expect(await call(sh(good), { args: { text: 'x'.repeat(1_000_000) } })).toMatchObject({ kind: 'executed' });
});

test.each([
  { name: 'a program that is not there', argv: ['./missing'], cause: 'adapter_missing', transient: true },
  { name: 'a file that is no program', argv: ['./plain'], cause: 'adapter_missing', transient: true },
  { name: 'a file in place of a folder', argv: ['./plain/program'], cause: 'adapter_missing', transient: true },
  { name: 'too long an argument', argv: ['/bin/echo', '{{long}}'], cause: 'request_mapping', transient: false },
])('$name is proof that nothing was started', async ({ argv, cause, transient }) => {
  await writeFile(join(folder, 'plain'), 'text', { mode: 0o600 });
  const onSend = () => expect.unreachable();
  const verdict = await call(argv as unknown as Argv, { args: { long: 'x'.repeat(3_000_000) } }, { onSend });
  expect(verdict).toMatchObject({ kind: 'not_executed', cause, transient, sent: false });
});

test('a program that is put in place later is found then', async () => {
  expect(await call(['./late'])).toMatchObject({ cause: 'adapter_missing' });
  await writeFile(join(folder, 'late'), `#!/bin/sh\n${good}\n`);
  await chmod(join(folder, 'late'), 0o700);
  expect(await call(['./late'])).toMatchObject({ kind: 'executed' });
});

test('a folder that is not there is proof that nothing was started', async () => {
  const upstream = { cwd: join(folder, 'missing') };
  expect(await call(sh(good), { upstream })).toMatchObject({ cause: 'adapter_missing', sent: false });
});

const endings = [
  { name: 'exit 0 with a receipt', script: good, verdict: { kind: 'executed', data: { id: 'r1' } } },
  { name: 'exit 0 with nothing', script: 'true', verdict: { kind: 'unknown', cause: 'no_receipt' } },
  {
    name: 'exit 0 with half a receipt',
    script: 'printf \'{"id":\'',
    verdict: { kind: 'unknown', cause: 'no_receipt' },
  },
  { name: 'exit 0 with a wrong receipt', script: 'echo "{}"', verdict: { kind: 'unknown', cause: 'no_receipt' } },
  { name: 'exit 1', script: 'echo why >&2; exit 1', verdict: { kind: 'unknown', cause: 'exit_1', detail: 'why\n' } },
  { name: 'exit 1 with a receipt', script: `${good}; exit 1`, verdict: { kind: 'unknown', cause: 'exit_1' } },
  { name: 'a signal', script: 'kill -KILL $$', verdict: { kind: 'unknown', cause: 'signal_kill' } },
  {
    name: 'a signal after a receipt',
    script: `${good}; kill -ABRT $$`,
    verdict: { kind: 'unknown', cause: 'signal_abrt' },
  },
  { name: 'a mapped exit', script: 'exit 64', verdict: { kind: 'not_executed', cause: 'exit_64', transient: false } },
  { name: 'a mapped success', script: `${good}; exit 9`, verdict: { kind: 'executed', data: { id: 'r1' } } },
  { name: 'an accepted one', script: `${good}; exit 75`, verdict: { kind: 'accepted', data: { id: 'r1' } } },
] as const;

test.each(endings)('$name: $verdict.kind', async ({ script, verdict }) => {
  const exits = { 9: 'executed', 64: 'not_executed', 75: 'accepted' } as const;
  expect(await call(sh(script), { upstream: { exits } })).toMatchObject(verdict);
});

test('the rules of the tool file see exit status, data, stdout and stderr, and come before the exit map', async () => {
  const outcomes = [
    { when: 'exit = 1 and $contains(stderr, "already done")', means: 'executed', receipt: '{ "id": $trim(text) }' },
    { when: '$data.error = "no funds"', means: 'not_executed', receipt: null },
    { when: 'exit = null', means: 'not_executed', receipt: null },
  ] as const;
  const upstream = { outcomes, exits: { 1: 'unknown' } } as const;
  expect(await call(sh('echo old-7; echo already done >&2; exit 1'), { upstream })).toEqual({
    kind: 'executed',
    data: { id: 'old-7' },
  });
  expect(await call(sh('echo \'{"error":"no funds"}\''), { upstream })).toMatchObject({ kind: 'not_executed' });
  expect(await call(sh('kill -KILL $$'), { upstream })).toMatchObject({ kind: 'not_executed', cause: 'signal_kill' });
  const broken = { outcomes: [{ when: '$error("no")', means: 'executed', receipt: null }] } as const;
  expect(await call(sh(good), { upstream: broken })).toMatchObject({ kind: 'unknown', cause: 'outcome_rule_failed' });
});

test('a read whose output is useless fails, and one that ends badly is unknown like any other', async () => {
  const tool = { effect: 'read' } as const;
  expect(await call(sh('echo x'), { tool })).toMatchObject({ kind: 'not_executed', cause: 'output_invalid' });
  expect(await call(sh('exit 1'), { tool })).toMatchObject({ kind: 'unknown', cause: 'exit_1' });
});

test('at the limit the whole group ends, also what ignores the request to end', async () => {
  const script = `${noteSelf}; trap "" TERM; sleep 600 & ${noteChild}; (sleep 600 & ${noteChild}; wait) & ${noteChild}; wait; sleep 600`;
  const verdict = await call(sh(script), { limits: { callMs: 500 } });
  expect(verdict).toMatchObject({ kind: 'unknown', cause: 'call_timeout', detail: expect.stringContaining('SIGKILL') });
  expect(started()).toHaveLength(4);
  expect(started().filter(isRunning)).toEqual([]);
});

test('an abort ends the whole group before the verdict is given', async () => {
  const controller = new AbortController();
  const script = `${noteSelf}; sleep 600 & ${noteChild}; wait`;
  const pending = call(sh(script), { limits: { callMs: 60_000 } }, { signal: controller.signal });
  await haveStarted(2);
  controller.abort();
  expect(await pending).toMatchObject({ kind: 'unknown', cause: 'aborted' });
  expect(started().filter(isRunning)).toEqual([]);
});

test('a process that ends well when it is told to end has executed, and no other exit status is believed', async () => {
  const controller = new AbortController();
  const exits = { 3: 'not_executed' } as const;
  const told = (exit: number) =>
    `trap '${good.replaceAll("'", `'"'"'`)}; exit ${exit}' TERM; ${noteSelf}; while :; do sleep 0.02; done`;
  const options = { signal: controller.signal };
  const both = Promise.all([0, 3].map((exit) => call(sh(told(exit)), { upstream: { exits } }, options)));
  await haveStarted(2);
  controller.abort();
  expect(await both).toMatchObject([
    { kind: 'executed', data: { id: 'r1' } },
    { kind: 'unknown', cause: 'aborted' },
  ]);
});

test('what a process leaves behind in its group ends with it, and what it wrote before is read', async () => {
  const script = `sleep 600 & ${noteChild}; ${good}`;
  expect(await call(sh(script))).toMatchObject({ kind: 'executed', data: { id: 'r1' } });
  expect(started()).toHaveLength(1);
  expect(started().filter(isRunning)).toEqual([]);
});

test('output without end is cut while it is read, and the process ends', async () => {
  const verdict = await call(sh(`${noteSelf}; (yes & ${noteChild}; wait)`), { limits: { callMs: 60_000 } });
  expect(verdict).toMatchObject({ kind: 'unknown', cause: 'response_too_large' });
  expect(started()).toHaveLength(2);
});

test('too much on stderr is cut at the end of a line', async () => {
  const script = 'for i in $(seq 2000); do echo "line $i"; done >&2; exit 1';
  const { detail } = (await call(sh(script))) as { detail: string };
  expect(detail).toMatch(/^line 1\n.*\nline \d+\n$/s);
  expect(detail.length).toBeLessThanOrEqual(8 * 1024);
  expect(await call(sh('head -c 20000 /dev/zero | tr "\\0" x >&2; exit 1'))).toMatchObject({ detail: '' });
});

test.runIf(existsSync('/usr/bin/setsid'))(
  'a process that left the group keeps nobody waiting for its output',
  async () => {
    const script = `setsid sh -c '${noteSelf}; exec sleep 5' & until test -s pids; do sleep 0.01; done; ${good}`;
    expect(await call(sh(script))).toMatchObject({ kind: 'executed' });
    for (const pid of started()) process.kill(pid, 'SIGKILL');
    await until(() => !started().some(isRunning), 'it has ended');
  },
);

test.runIf(existsSync('/usr/bin/setsid')).each([
  { effect: 'write', kind: 'unknown', cause: 'survivor' },
  { effect: 'read', kind: 'not_executed', cause: 'exit_3' },
] as const)(
  'a $effect that says it did nothing while something of it runs on outside the group is $kind',
  async ({ effect, ...verdict }) => {
    const script = `setsid sh -c '${noteSelf}; exec sleep 60' & until test -s pids; do sleep 0.01; done; exit 3`;
    const changes = { upstream: { exits: { 3: 'not_executed' } }, tool: { effect } } as const;
    expect(await call(sh(script), changes)).toMatchObject(verdict);
    for (const pid of started()) process.kill(pid, 'SIGKILL');
    await until(() => !started().some(isRunning), 'it has ended');
  },
);

test.runIf(existsSync('/usr/bin/setsid'))('a group that is gone gets no signal, whatever still comes', async () => {
  const kill = vi.spyOn(process, 'kill');
  const script = `setsid sh -c '${noteSelf}; while kill -0 $1; do sleep 0.01; done 2> /dev/null; yes' sh $$ & until test -s pids; do sleep 0.01; done`;
  const ran = call(sh(script));
  expect(await ran).toMatchObject({ kind: 'unknown', cause: 'response_too_large' });
  expect(kill.mock.calls.filter(([pid, signal]) => pid < 0 && signal === 'SIGTERM')).toEqual([]);
  kill.mockRestore();
  for (const pid of started()) if (isAlive(pid)) process.kill(pid, 'SIGKILL');
  await until(() => !started().some(isRunning), 'it has ended');
});

test('the exit statuses that the tool file declares are absence, and no other is', async () => {
  const ask = (script: string) => {
    const upstream = { lookup: { argv: sh(script, '{{key}}'), absentExits: [4], ...lookupReading } };
    return adapter.lookup(taskOf(sh(good), { upstream }), {});
  };
  expect(await ask('exit 4')).toEqual({ kind: 'absent' });
  expect(await ask('echo lost >&2; exit 1')).toEqual({
    kind: 'cannot_tell',
    detail: 'the lookup ended with exit 1: lost\n',
  });
  expect(await ask('kill -TERM $$')).toMatchObject({ kind: 'cannot_tell' });
  expect(await ask('echo \'{"found":[]}\'')).toEqual({ kind: 'absent' });
  expect(await ask('printf \'{"found":[{"id":"%s"}]}\' "$1"')).toEqual({ kind: 'present', data: { id: 'key-1' } });
  expect(await ask('echo nothing')).toMatchObject({ kind: 'cannot_tell', detail: 'the lookup answered no JSON' });
  expect(await ask('yes')).toMatchObject({ kind: 'cannot_tell', detail: 'the lookup answered too much' });
});

test('an empty value in a lookup asks for everything, so nothing is started; in a call it is a value', async () => {
  const argv = sh(`${noteSelf}; echo '{"found":[{"id":"of another"}]}'`, '--reference={{order}}');
  const args = { order: '' };
  const lookup = { argv, absentExits: [], ...lookupReading };
  expect(await adapter.lookup(taskOf(sh(good), { upstream: { lookup }, args }), {})).toEqual({
    kind: 'cannot_tell',
    detail: '{{order}} is empty, which asks for everything',
  });
  expect(started()).toEqual([]);
  expect(await call(echo('--note={{order}}'), { args })).toMatchObject({ data: { args: ['--note='] } });
});

test('a poll may name what the upstream answered; without it nothing is started', async () => {
  const argv = sh(`${noteSelf}; echo '{"state":"failed"}'`, '{{accepted.operation}}');
  const task = taskOf(sh(good), { upstream: { poll: { argv, ...pollReading } } });
  const poll = (accepted: JsonObject) => adapter.poll({ ...task, request: { ...task.request, accepted } }, {});
  expect(await poll({})).toMatchObject({ kind: 'pending' });
  expect(started()).toEqual([]);
  expect(await poll({ operation: 'op-1' })).toMatchObject({ kind: 'failed' });
});
