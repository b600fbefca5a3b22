import type { OutcomeRule, StatusMeaning } from '@intendant/contracts';
import { MisbehavingServer, response, toolAt } from '@intendant/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { attempt } from './asking.spec-helper.js';
import { Upstreams, type ValidateOutput } from './index.js';

const needsId: ValidateOutput = (_, data) =>
  typeof data === 'object' && data !== null && 'id' in data ? null : 'id is missing';

let server: MisbehavingServer;
let adapter: Upstreams;
let attempts = 0;

beforeAll(async () => {
  server = await MisbehavingServer.start();
  adapter = new Upstreams(needsId, { maxResponseBytes: 10_000 });
});
afterAll(async () => {
  await adapter.close();
  await server.stop();
});

const rule = (when: string, means: StatusMeaning, receipt: string | null = null): OutcomeRule => ({
  when,
  means,
  receipt,
});

async function answered(
  answer: string | Buffer,
  outcomes: readonly OutcomeRule[],
  { statuses = {}, effect = 'destructive' as 'destructive' | 'read' } = {},
) {
  const attemptId = `a-${++attempts}`;
  server.script({ at: 'request', send: answer, then: 'keep' });
  const tool = toolAt(server.url, { tool: { effect }, upstream: { outcomes, statuses } });
  const verdict = await adapter.call(attempt(tool, attemptId), { mayStart: () => true });
  expect(server.wireRequests(attemptId)).toBe(1);
  return verdict;
}

const json = (status: number, body: unknown, headers = {}) => response(status, JSON.stringify(body), headers);

describe('409', () => {
  const rules = [
    rule('status = 409 and data.code = "already_done"', 'executed', 'data.original'),
    rule('status = 409 and data.code = "busy"', 'in_progress'),
    rule('status = 409 and data.code = "stale_version"', 'not_executed'),
  ];

  test('that says "already done" proves the effect, with the receipt of the first answer', async () => {
    const answer = json(409, { code: 'already_done', original: { id: 'r1' } });
    expect(await answered(answer, rules)).toEqual({ kind: 'executed', data: { id: 'r1' } });
  });

  test('that says "already done" without a receipt proves nothing', async () => {
    expect(await answered(json(409, { code: 'already_done' }), rules)).toMatchObject({
      kind: 'unknown',
      cause: 'no_receipt',
      detail: expect.stringContaining('"receipt" selects nothing'),
    });
    expect(await answered(json(409, { code: 'already_done', original: {} }), rules)).toMatchObject({
      kind: 'unknown',
      cause: 'no_receipt',
      detail: 'http_409: id is missing',
    });
  });

  test('that says "in progress" is unknown under a name of its own', async () => {
    expect(await answered(json(409, { code: 'busy' }), rules)).toMatchObject({ kind: 'unknown', cause: 'in_progress' });
  });

  test('that says "no longer valid" is a refusal for good', async () => {
    expect(await answered(json(409, { code: 'stale_version' }), rules)).toEqual({
      kind: 'not_executed',
      cause: 'http_409',
      transient: false,
      retryAfterMs: null,
      detail: '{"code":"stale_version"}',
    });
  });

  test('that says what nobody has mapped is unknown', async () => {
    for (const body of ['{"code":"surprise"}', '[]', '"busy"', '{"code":', '<html>busy</html>', '']) {
      expect(await answered(response(409, body), rules)).toMatchObject({ kind: 'unknown', cause: 'http_409' });
    }
  });
});

test('an error in a 200 is a refusal where the tool says how it looks, and every other envelope is unknown', async () => {
  const rules = [rule('status = 200 and data.ok = false', 'not_executed')];
  expect(await answered(json(200, { ok: false, error: 'limit' }), rules)).toMatchObject({
    kind: 'not_executed',
    cause: 'http_200',
    transient: false,
    detail: '{"ok":false,"error":"limit"}',
  });
  expect(await answered(json(200, { ok: true, id: 'r1' }), rules)).toMatchObject({ kind: 'executed' });
  expect(await answered(json(200, { error: 'limit' }), rules)).toMatchObject({ kind: 'unknown', cause: 'no_receipt' });
  expect(await answered(json(200, { ok: 'false' }), rules)).toMatchObject({ kind: 'unknown', cause: 'no_receipt' });
});

test('a 500 that an upstream repeats for a key stays unknown unless the tool knows what it says', async () => {
  const rules = [rule('status = 500 and data.error.type = "card_declined"', 'not_executed')];
  expect(await answered(json(500, { error: { type: 'card_declined' } }), rules)).toMatchObject({
    kind: 'not_executed',
    cause: 'http_500',
    transient: true,
  });
  expect(await answered(json(500, { error: { type: 'api_error' } }), rules)).toMatchObject({
    kind: 'unknown',
    cause: 'http_500',
  });
});

test('a refusal by rule carries the wait that the upstream asks for only where it may pass', async () => {
  const rules = [rule('data.code = "later"', 'not_executed')];
  const later = { code: 'later' };
  expect(await answered(json(503, later, { 'retry-after': '3' }), rules)).toMatchObject({
    transient: true,
    retryAfterMs: 3_000,
  });
  expect(await answered(json(400, later, { 'retry-after': '3' }), rules)).toMatchObject({
    transient: false,
    retryAfterMs: null,
  });
});

test('a rule can make an effect of a refusal, a promise of a success, and an unknown of both', async () => {
  expect(
    await answered(json(422, { duplicate_of: 'r9' }), [
      rule('$exists(data.duplicate_of)', 'executed', '{"id": data.duplicate_of}'),
    ]),
  ).toEqual({
    kind: 'executed',
    data: { id: 'r9' },
  });
  expect(await answered(json(200, { id: 'r1', state: 'queued' }), [rule('data.state = "queued"', 'accepted')])).toEqual(
    {
      kind: 'accepted',
      data: { id: 'r1', state: 'queued' },
    },
  );
  const doubt = [rule('data.id = "r1" or status = 400', 'unknown')];
  expect(await answered(json(201, { id: 'r1' }), doubt)).toMatchObject({ kind: 'unknown', cause: 'http_201' });
  expect(await answered(json(400, {}), doubt)).toMatchObject({ kind: 'unknown', cause: 'http_400' });
});

test('the first rule that holds decides, before the statuses of the tool do', async () => {
  const rules = [rule('status = 404', 'unknown'), rule('status >= 400', 'not_executed')];
  const statuses = { 404: 'executed', 410: 'executed', 200: 'unknown' } as const;
  expect(await answered(json(404, { id: 'r1' }), rules, { statuses })).toMatchObject({ cause: 'http_404' });
  expect(await answered(json(410, { id: 'r1' }), rules, { statuses })).toMatchObject({ kind: 'not_executed' });
  expect(await answered(json(200, { id: 'r1' }), rules, { statuses })).toMatchObject({ kind: 'unknown' });
});

test('status, data and text are those of the answer, whatever the fields of its body are called', async () => {
  const body = { id: 'r1', status: 'failed', data: { text: 'inner' }, text: 'field' };
  const when = 'status = 200 and data.status = "failed" and data.data.text = "inner" and $contains(text, "{")';
  expect(await answered(json(200, body), [rule(when, 'not_executed')])).toMatchObject({ kind: 'not_executed' });
  const variables = '$status = 200 and $data.text = "field" and $text = text';
  expect(await answered(json(200, body), [rule(variables, 'not_executed')])).toMatchObject({ kind: 'not_executed' });
});

describe('a body that is no JSON', () => {
  const already = rule(
    'data = null and $contains(text, "already sent")',
    'executed',
    '{"id": $match(text, /msg_\\d+/).match}',
  );

  test('is null as data, and can be read as text', async () => {
    const verdict = await answered(response(400, 'Message already sent as msg_17.'), [already]);
    expect(verdict).toEqual({ kind: 'executed', data: { id: 'msg_17' } });
  });

  test('gives no receipt unless an expression finds one', async () => {
    expect(await answered(response(400, 'Message already sent.'), [already])).toMatchObject({ cause: 'no_receipt' });
    const whole = rule('$contains(text, "already sent")', 'executed');
    expect(await answered(response(400, 'Message already sent.'), [whole])).toMatchObject({
      kind: 'unknown',
      cause: 'no_receipt',
      detail: expect.stringContaining('not JSON'),
    });
  });

  test('cut off at the limit can be read, and proves neither an effect nor that there is none', async () => {
    const long = `already sent as msg_17 ${'.'.repeat(20_000)}`;
    expect(await answered(response(400, long), [already])).toMatchObject({
      kind: 'unknown',
      cause: 'response_too_large',
    });
    const busy = rule('data = null and $contains(text, "already sent") and $length(text) = 10000', 'in_progress');
    expect(await answered(response(400, long), [busy])).toMatchObject({ kind: 'unknown', cause: 'in_progress' });
    for (const rules of [[rule('data.code = "already_done"', 'executed')], [rule('status = 400', 'not_executed')]]) {
      expect(await answered(response(400, long), rules)).toMatchObject({ kind: 'unknown', cause: 'answer_broken' });
    }
    expect(await answered(response(400, long), [])).toMatchObject({ kind: 'not_executed', cause: 'http_400' });
  });

  test('although its type says so proves no refusal, since no rule could read it', async () => {
    const rules = [rule('data.code = "already_done"', 'executed', 'data.original')];
    for (const type of ['application/json', 'application/problem+json; charset=utf-8']) {
      const cut = response(422, '{"code":"alrea', { 'content-type': type });
      expect(await answered(cut, rules)).toMatchObject({ kind: 'unknown', cause: 'answer_broken' });
      expect(await answered(cut, [])).toMatchObject({ kind: 'not_executed', cause: 'http_422' });
    }
    const page = response(422, '<html>', { 'content-type': 'text/html' });
    expect(await answered(page, rules)).toMatchObject({ kind: 'not_executed', cause: 'http_422' });
  });

  test('of bytes that are no text can still be told by its status', async () => {
    const bytes = Buffer.concat([
      Buffer.from('HTTP/1.1 500 X\r\ncontent-length: 3\r\n\r\n'),
      Buffer.from([0xff, 0xfe, 0x00]),
    ]);
    expect(await answered(bytes, [rule('status = 500 and data = null', 'not_executed')])).toMatchObject({
      kind: 'not_executed',
    });
  });
});

describe('a rule', () => {
  test.each([
    ['that fails', '$error("no")'],
    ['that does not compile', 'data.'],
    ['that compares what cannot be compared', 'data.id > 3'],
    ['that gives a number', '$count(data)'],
    ['that gives a text', 'data.id'],
    ['that gives a list', '[data.id = "r1"]'],
    ['that gives null', 'null'],
    ['that gives a function', 'function($x) { $x }'],
    ['that runs for ever', '($f := function() { $f() + 1 }; $f())'],
    ['that would run a text', '$eval("true")'],
  ])('%s leaves the outcome unknown', async (_, when) => {
    for (const means of ['executed', 'not_executed', 'accepted'] as const) {
      expect(await answered(json(201, { id: 'r1' }), [rule(when, means)])).toMatchObject({
        kind: 'unknown',
        cause: 'outcome_rule_failed',
        detail: expect.stringContaining('{"id":"r1"}'),
      });
    }
  });

  test('that fails after another has held does not matter', async () => {
    const rules = [rule('true', 'not_executed'), rule('$error("no")', 'executed')];
    expect(await answered(json(201, { id: 'r1' }), rules)).toMatchObject({ kind: 'not_executed' });
  });

  test('that selects nothing does not apply', async () => {
    for (const when of ['data.missing', '$contains(data.error.message, "duplicate")', '$not(data.ok)']) {
      expect(await answered(json(201, { id: 'r1' }), [rule(when, 'not_executed')])).toMatchObject({ kind: 'executed' });
    }
  });

  test('whose receipt fails leaves the outcome unknown', async () => {
    expect(await answered(json(201, { id: 'r1' }), [rule('true', 'executed', '$error("no")')])).toMatchObject({
      kind: 'unknown',
      cause: 'no_receipt',
      detail: expect.stringContaining('the receipt expression failed'),
    });
  });

  test('does not make a read that got no answer executed', async () => {
    const verdict = await answered(json(200, { ok: false }), [rule('true', 'executed', 'data.missing')], {
      effect: 'read',
    });
    expect(verdict).toMatchObject({ kind: 'not_executed', cause: 'output_invalid' });
  });
});
