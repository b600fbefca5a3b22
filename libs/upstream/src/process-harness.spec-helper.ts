import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Argv, ProcessUpstream } from '@intendant/contracts';
import type { Json, JsonObject } from '@intendant/intent';
import {
  type ConformanceHarness,
  lookupReading,
  maxAnswerBytes,
  needsReceipt,
  pollReading,
  type Reaction,
  ScriptedUpstream,
  tooLarge,
  until,
} from '@intendant/testing';
import { behindPort } from './behind-port.spec-helper.js';
import { ProcessAdapter } from './process-adapter.js';

/** Tells the scripted upstream what came, over a socket, and does what it answers. */
const program = `
import { readFileSync, writeSync } from 'node:fs';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
const [socketPath, about] = process.argv.slice(2);
const { INTENDANT_KEY: key, INTENDANT_ATTEMPT_ID: attemptId, INTENDANT_CREDENTIAL: credential = null } = process.env;
const input = JSON.parse(readFileSync(0, 'utf8'));
const socket = connect(socketPath);
const place = process.env.PLACE;
socket.write(JSON.stringify({ pid: process.pid, about, key, attemptId, credential, place, input }) + '\\n');
for await (const line of createInterface({ input: socket })) {
  const { kind, data, text } = JSON.parse(line);
  if (kind === 'hang') continue;
  if (kind === 'die') process.kill(process.pid, 'SIGKILL');
  if (text) process.stdout.write(text);
  if (data) process.stdout.write(JSON.stringify(data));
  process.exitCode = { refuse: 3, accept: 75, error: 1 }[kind] ?? 0;
  break;
}
socket.destroy();
`;

interface Message {
  readonly pid: number;
  readonly about: 'call' | 'lookup' | 'poll';
  readonly key: string;
  readonly attemptId: string;
  readonly credential: string | null;
  readonly place: string;
  readonly input: JsonObject;
}

/** A real program for every call, which reports to the test. */
export async function startProcessHarness(): Promise<ConformanceHarness> {
  const folder = await mkdtemp(join(tmpdir(), 'intendant-process-'));
  const file = join(folder, 'program.mjs');
  const path = join(folder, 'socket');
  await writeFile(file, program);
  const script = new ScriptedUpstream();
  const pids = new Set<number>();
  const server = createServer((socket) => {
    const lines = createInterface({ input: socket });
    lines.on('line', (line) => void answer(script, socket, pids, JSON.parse(line)));
    // A process that was killed leaves its connection as it likes.
    for (const source of [lines, socket]) source.on('error', () => {});
  });
  server.listen(path);
  await once(server, 'listening');
  const argv = (about: string): Argv => [process.execPath, file, path, about];
  const upstreamAt = (place: string, credential: string): ProcessUpstream => ({
    kind: 'process',
    name: 'scripted',
    concurrency: 8,
    outcomes: [],
    credential,
    argv: argv('call'),
    cwd: folder,
    env: { PLACE: place },
    input: '$args',
    maxOutputBytes: maxAnswerBytes,
    exits: { 3: 'not_executed', 75: 'accepted' },
    lookup: { argv: argv('lookup'), absentExits: [], ...lookupReading },
    poll: { argv: argv('poll'), ...pollReading },
  });
  const real = upstreamAt('real', 'conformance');
  const missing: Argv = [join(folder, 'no-such-program')];
  return {
    adapter: behindPort(new ProcessAdapter(needsReceipt)),
    script,
    real,
    sandbox: upstreamAt('sandbox', 'conformance_sandbox'),
    unreachable: {
      ...real,
      argv: missing,
      lookup: { argv: missing, absentExits: [], ...lookupReading },
      poll: { argv: missing, ...pollReading },
    },
    timeoutMs: 3_000,
    atRest: () => until(() => ![...pids].some(isAlive), 'every process has ended'),
    stop: async () => {
      server.close();
      await rm(folder, { recursive: true });
    },
  };
}

async function answer(script: ScriptedUpstream, socket: Socket, pids: Set<number>, message: Message): Promise<void> {
  pids.add(message.pid);
  const reaction = await react(script, message);
  const text = reaction.kind === 'garbage' ? 'no data' : reaction.kind === 'too_large' ? tooLarge : null;
  socket.write(`${JSON.stringify({ ...reaction, text })}\n`);
}

async function react(script: ScriptedUpstream, message: Message): Promise<Reaction> {
  const { about, attemptId, credential, input, key, place } = message;
  const seen = { key, credential, sandbox: place === 'sandbox' };
  if (about === 'call') return script.call({ ...seen, args: input, attemptId });
  const { args, accepted } = input as { args: JsonObject; accepted: Json };
  return about === 'lookup' ? script.lookup({ ...seen, args }) : script.poll({ ...seen, args }, accepted);
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
