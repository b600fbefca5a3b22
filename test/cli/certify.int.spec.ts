import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { Certificate, Finding, ProbeName } from '@intendant/certify';
import { afterAll, describe, expect, type TestContext, test, vi } from 'vitest';
import type { Behaviour } from '../../examples/upstream/server.js';
import { documentedTool, programs } from '../flow/third-party-tools.js';

// A campaign waits for settle times and starts processes to kill; on a busy machine that adds up.
vi.setConfig({ testTimeout: 90_000 });

const root = fileURLToPath(new URL('../../', import.meta.url));
const folder = mkdtempSync(path.join(os.tmpdir(), 'certify-'));
afterAll(() => rmSync(folder, { recursive: true }));

const refundArgs = '{"order_id":"ord_{{n}}","amount_cents":100}';

/** A tool whose sandbox is the demo upstream and whose real upstream does not exist. */
function toolFile(at: '/refunds' | '/mails', input: string, promise: string): string {
  const file = path.join(folder, `${randomUUID()}.tool.yaml`);
  writeFileSync(
    file,
    `apiVersion: intendant/v1
name: things.create
version: 1
description: Creates a thing.
effect: write
reversible: false
permission: things:create
input: ${input}
output: { type: object, required: [${at === '/mails' ? 'message_id' : 'refund_id'}] }
limits: { connect: 1s, call: 2s }
upstream:
  http: { baseUrl: "http://127.0.0.1:9", method: POST, path: ${at}, body: $args }
  sandbox: { baseUrl: "\${SANDBOX}" }
  maxProcessing: { value: 400ms, basis: assumed }
  settle: 500ms
  lookup:
    path: ${at}?${at === '/mails' ? 'reference' : 'key'}={{key}}
    present: $count(data) > 0
    receipt: data[0]
    authoritative: true
    lag: 0s
    spacing: 100ms
  ${promise}
`,
  );
  return file;
}

const refunds = toolFile(
  '/refunds',
  '{ type: object, additionalProperties: false, properties: { order_id: { type: string }, amount_cents: { type: integer } } }',
  'guarantee: idempotency_key\n  keyRetention: PT24H\n  statuses: { 409: in_progress }',
);
const mails = toolFile(
  '/mails',
  '{ type: object, additionalProperties: false, properties: { to: { type: string }, subject: { type: string }, text: { type: string } }, examples: [{ to: "a{{n}}@b.example", subject: Hello, text: Hi }] }',
  'guarantee: lookup',
);

/** The demo upstream as a process, which does this to every request or lookup. */
async function demo({ onTestFinished }: TestContext, ...behaviours: readonly Behaviour[]): Promise<string> {
  const child = spawn(process.execPath, [path.join(root, 'dist', 'examples', 'upstream', 'main.js')], {
    env: { PATH: process.env.PATH },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await once(child, 'exit');
  });
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  const url: string = JSON.parse(line).listening;
  for (const behaviour of behaviours) {
    const rule = { match: {}, times: 'always', behaviour };
    const { status } = await fetch(`${url}/__control`, { method: 'POST', body: JSON.stringify(rule) });
    expect(status).toBe(200);
  }
  return url;
}
interface Ended {
  readonly status: number | null;
  readonly out: string;
  readonly err: string;
}

async function intendant(...args: string[]): Promise<Ended> {
  const child = spawn(process.execPath, [path.join(root, 'bin', 'intendant.mjs'), 'tools', 'certify', ...args], {
    cwd: folder,
    env: { PATH: programs },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 60_000,
    killSignal: 'SIGKILL',
  });
  const [out, err, [status]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  return { status: status as number | null, out, err };
}

interface Certified extends Certificate {
  readonly status: number | null;
  readonly failed: readonly ProbeName[];
  find(probe: ProbeName): Finding;
}

async function certified(url: string): Promise<Certified> {
  const sandbox = `SANDBOX=${url}`;
  const ended = await intendant(refunds, '--json', '--set', sandbox, '--args', refundArgs, '--hold', '300ms');
  expect(ended.err).toBe('');
  const certificate = JSON.parse(ended.out) as Certificate;
  const { findings } = certificate;
  return {
    ...certificate,
    status: ended.status,
    failed: findings.filter(({ result }) => result === 'failed').map(({ probe }) => probe),
    find: (probe) => findings.find((each) => each.probe === probe) as Finding,
  };
}

describe('a certificate confirms', () => {
  test('an upstream that honours keys, by every probe', async (context) => {
    const url = await demo(context);
    const found = await certified(url);
    expect(found).toMatchObject({ status: 0, holds: true, supported: 'idempotency_key', target: 'sandbox' });
    expect(new Set(found.findings.map(({ result }) => result))).toEqual(new Set(['passed']));
    expect(found.measured).toEqual({ lagMs: expect.any(Number), processingMs: expect.any(Number) });
    // The judge is the ledger: however often keys were sent, each had one effect.
    const { data } = (await (await fetch(`${url}/__ledger`)).json()) as { data: { kind: string; key: string }[] };
    const effects = data.filter(({ kind }) => kind === 'effect').map(({ key }) => key);
    expect(effects.length).toBeGreaterThan(10);
    expect(new Set(effects).size).toBe(effects.length);
  });

  test('an upstream that can be asked but repeats what is sent twice', async (context) => {
    const ended = await intendant(mails, '--set', `SANDBOX=${await demo(context)}`, '--hold', '300ms');
    expect(ended.status).toBe(0);
    expect(ended.out).toMatch(/^observed +duplicate +.*more than one effect/m);
    expect(ended.out).toMatch(/^passed +killed_before_first_byte +.*absent; sent again: one effect/m);
    expect(ended.out).toMatch(/^supported +lookup$/m);
    expect(ended.out).toMatch(/maxProcessing: \{ value: \d+ms, basis: measured \}/);
  });
});

test('a server from npm that keeps more than its documented tool file declares, in which nothing has to change', async () => {
  const file = path.join(folder, 'reports.tool.yaml');
  writeFileSync(file, documentedTool().replace('maxProcessing: 5s', 'maxProcessing: 500ms'));
  const reports = mkdtempSync(path.join(folder, 'reports-'));
  const ended = await intendant(
    ...[file, '--real-upstream', '--set', `REPORTS_DIR=${reports}`, '--args', '{"text":"All is well."}'],
  );
  expect(ended).toMatchObject({ status: 0, err: '' });
  expect(ended.out).toMatch(/^passed +lost_reply +.*present: nothing is sent again/m);
  expect(ended.out).toMatch(/^observed +duplicate +.*: one effect;/m);
  expect(ended.out).toMatch(/^supported +idempotency_key$/m);
  expect(ended.out).toMatch(/^verdict +the declaration holds \(/m);
  expect(ended.out).not.toContain('to change in the tool file');
});

describe('a certificate catches an upstream that', () => {
  test('claims to honour keys and ignores them', async (context) => {
    const found = await certified(await demo(context, { honourKey: false }));
    expect(found).toMatchObject({ status: 1, holds: false, supported: 'lookup' });
    expect(found.failed).toEqual([
      ...['duplicate', 'duplicate_at_once', 'lost_reply', 'killed_after_request', 'killed_after_reply'],
      'forgotten_key',
    ]);
    const { says, evidence } = found.find('duplicate');
    expect(says).toMatch(/more than one effect; an answer showed .*re_\d+.*, an answer showed .*re_\d+/);
    expect(evidence[0]?.lines.map(({ what }) => what).join('\n')).toMatch(/attempt \w{26}: executed/);
  });

  test('has a lookup that lags more than declared', async (context) => {
    const found = await certified(await demo(context, { lookup: 'lag:700' }));
    expect(found).toMatchObject({ status: 1, supported: 'idempotency_key' });
    expect(found.find('stale_lookup')).toMatchObject({
      result: 'failed',
      says: expect.stringMatching(/absent \d+ ms after the answer; declared lag 0ms.* would double the effect/),
    });
    expect(found.measured.lagMs).toBeGreaterThanOrEqual(700);
  });
});

test('a certificate does not confirm what it could not see', async (context) => {
  const file = path.join(folder, 'loose.tool.yaml');
  writeFileSync(file, readFileSync(refunds, 'utf8').replace('required: [refund_id]', 'required: [order_id]'));
  const url = await demo(context, { honourKey: false });
  const ended = await intendant(file, '--set', `SANDBOX=${url}`, '--args', refundArgs, '--hold', '300ms');
  expect(ended.status).toBe(1);
  expect(ended.out).not.toMatch(/^failed/m);
  expect(ended.out).toMatch(/^not testable +duplicate +.*"re_\d+".*"re_\d+".*the lookup does not count/m);
  expect(ended.out).toMatch(/^supported +lookup$/m);
  expect(ended.out).toMatch(
    /^verdict +not shown: nothing contradicts idempotency_key, but .* supports only lookup \(/m,
  );
});

describe('a certificate is refused', () => {
  test('for the real upstream, unless that is said', async () => {
    const file = path.join(root, 'examples', 'tools', 'payments.refund.create.tool.yaml');
    const ended = await intendant(file, '--set', 'DEMO_UPSTREAM_URL=http://127.0.0.1:9', '--args', refundArgs);
    expect(ended).toMatchObject({ status: 2, out: '', err: expect.stringContaining('--real-upstream') });
    const real = await intendant(
      file,
      '--real-upstream',
      '--set',
      'DEMO_UPSTREAM_URL=http://127.0.0.1:9',
      '--args',
      refundArgs,
    );
    expect(real).toMatchObject({ status: 1, out: expect.stringMatching(/^failed +plain /m) });
  });

  test('without arguments that the tool takes', async () => {
    const set = ['--set', 'SANDBOX=http://127.0.0.1:8'];
    expect(await intendant(refunds, ...set)).toMatchObject({ status: 2, err: expect.stringContaining('--args') });
    const wrong = await intendant(refunds, ...set, '--args', '{"order_id":5}');
    expect(wrong).toMatchObject({ status: 2, err: expect.stringContaining('/order_id: expected') });
  });
});
