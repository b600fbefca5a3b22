import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { installNats } from './nats-command.js';
import { Stack, serviceKey } from './stack.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
let stack: Stack;
let folder: string;
beforeEach(async () => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'agent-examples-'));
  installNats(folder);
  stack = await Stack.start({ services: [] });
});
afterEach(async () => {
  await stack?.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function run(command: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const child = spawn(command, args, {
    cwd: root,
    env: {
      ...process.env,
      ...{ PATH: `${folder}:${process.env['PATH']}`, NATS_URL: stack.nats.url, INTENDANT_NATS_URL: stack.nats.url },
      ...{ INTENDANT_TENANT: 'acme', INTENDANT_SERVICE_KEY: serviceKey },
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  return { stdout, stderr, code: code as number };
}

const examples = {
  'nats.ts': [process.execPath, ['dist/examples/agents/nats.js']],
  'nats.sh': ['sh', ['examples/agents/nats.sh']],
} as const;
const calls = ['effects.keyed', '{"ref":"first"}', '{"ref":"{{second}}"}'];

test.each(Object.entries(examples))(
  '%s gets its outcomes and has each effect once, though nobody is there at first and an answer is lost',
  async (_, [command, args]) => {
    const ran = run(command, [...args, ...calls]);
    // It dies with the intent recorded and the answer not sent.
    const first = await stack.launch('standalone', 'policy.before_reply:1:kill');
    await first.ended;
    await stack.launch('standalone');
    const { stdout, stderr, code } = await ran;
    expect([code, stderr.split('\n').filter((line) => /error|throw/i.test(line))]).toEqual([0, []]);
    expect(stdout + stderr).toContain('no answer on intendant.rpc.submit; asking again');
    const said = stdout.replaceAll('"', '').split('\n');
    expect(said).toContainEqual(expect.stringMatching(/^by request.*committed.*executed.*replayed.*effect_id/));
    expect(said).toContainEqual(expect.stringMatching(/^event.*intendant\.intent\.committed.*executed/));
    expect(said).toContainEqual(expect.stringMatching(/^by publish.*committed.*executed.*replayed.*effect_id/));
    expect(stack.effects()).toHaveLength(2);
    const intents = await stack.store.intents.list({ limit: 10 });
    const recorded = await Promise.all(intents.map(({ intentId }) => stack.store.intents.load(intentId)));
    expect(recorded.map((intent) => intent?.proposal.args['ref']).sort()).toEqual(['first', '{{second}}']);
  },
  60_000,
);

test.each(Object.entries(examples))(
  '%s tells why it was refused, and of a key that is not good',
  async (_, [command, args]) => {
    await stack.launch('standalone');
    const refused = await run(command, [...args, 'effects.keyed', '{"ref":"first"}', '{"ref":7}']);
    expect(refused.code).toBe(0);
    expect(refused.stdout).toMatch(/by publish.*The arguments of effects\.keyed are not right/);
    expect(stack.effects()).toHaveLength(1);

    const stranger = await run(command, [...args, ...calls], { INTENDANT_SERVICE_KEY: 'of nobody' });
    expect(stranger.code).toBe(1);
    expect(stranger.stderr).toMatch(/service key/i);
    expect(stack.effects()).toHaveLength(1);
  },
  60_000,
);
