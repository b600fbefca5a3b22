import { describe, expect, test } from 'vitest';
import { campaign } from './campaign.js';
import { certify } from './certificate.js';
import { hiddenResender, lastLook } from './probes/afterwards.js';
import { lateCommit } from './probes/late-commit.js';
import { neverUsed, receipts, staleLookup } from './probes/lookup.js';
import { plain } from './probes/plain.js';
import { repeated } from './probes/repeated.js';
import { duplicate, duplicateAtOnce, forgottenKey, lostReply } from './probes/repeats.js';
import { replaced } from './probes/replaced.js';
import { subjectOf } from './tool.spec-helper.js';

const statuses = (map: string) => `guarantee: idempotency_key\n  statuses: { ${map} }`;
const inProgress = { promise: statuses('409: in_progress') };

describe('an upstream that takes effect later than its declared maximum', () => {
  test('is caught after a lost request', async () => {
    const { subject } = await subjectOf({ commitAfterMs: 500 }, { ...inProgress, holdMs: 5_000 });
    const { finding, visibleMs } = await lateCommit(subject);
    expect(finding).toMatchObject({
      result: 'failed',
      says: expect.stringMatching(/still absent \d+ ms after the request .*processing 200ms \+ lag 0ms/),
    });
    expect(visibleMs).toBeGreaterThanOrEqual(490);
  });

  test('is caught by the last look, when its effect comes after the settle time', async () => {
    const { subject, upstream } = await subjectOf({ commitAfterMs: 2_000 }, { promise: 'guarantee: lookup' });
    const finding = await lostReply(subject);
    // Looked at while it is absent, sent again, and then there are two.
    expect(finding.says).toMatch(/the lookup says absent/);
    await upstream.waitForEffect({ count: 1 }, 5_000);
    expect(await lastLook(subject)).toMatchObject({ result: 'failed' });
  });
});

describe('an upstream that forgets keys', () => {
  test('is caught when that is earlier than declared', async () => {
    const { subject } = await subjectOf({ forgetKeyAfterMs: 200 });
    expect(await forgottenKey(subject)).toMatchObject({ result: 'failed', repeats: 'more' });
  });

  test('is right when it keeps them for as long as declared', async () => {
    const { subject } = await subjectOf({ forgetKeyAfterMs: 3_600_000 }, { retention: '1h' });
    expect(await forgottenKey(subject)).toMatchObject({
      result: 'passed',
      says: expect.stringContaining('at least 300ms; declared 1h, not tested further'),
    });
  });
});

test('a lookup that lags is caught, and its lag is measured', async () => {
  const { subject } = await subjectOf({ lookup: 'lag:400' });
  const found = await plain(subject);
  expect(staleLookup(subject, [found])).toMatchObject({
    result: 'failed',
    says: expect.stringMatching(/absent \d+ ms after the answer; declared lag 0ms.* would double the effect/),
  });
  expect(found.seen?.firstPresentMs).toBeGreaterThanOrEqual(390);
});

test('a lookup that lags as declared is right', async () => {
  const lookup = 'present: $count(data) > 0, receipt: "data[0]", authoritative: true, lag: 300ms';
  const { subject } = await subjectOf({ lookup: 'lag:50' }, { lookup, settle: '700ms' });
  expect(staleLookup(subject, [await plain(subject)])).toMatchObject({ result: 'passed' });
});

test('a lookup that proves presence only may say absent', async () => {
  const lookup = 'present: $count(data) > 0, receipt: "data[0]", authoritative: false';
  const { subject } = await subjectOf({ lookup: 'lag:200' }, { lookup });
  expect(staleLookup(subject, [await plain(subject)])).toMatchObject({ result: 'observed' });
});

describe('a receipt that is the same for every effect', () => {
  test('is caught, and proves nothing about repeats', async () => {
    const { subject } = await subjectOf({ constantReceipt: true });
    const plains = [await plain(subject), await plain(subject)];
    expect(receipts(subject, plains)).toMatchObject({ result: 'failed', says: expect.stringContaining('re_same') });
    expect(await duplicate(subject)).toMatchObject({ result: 'not_testable' });
  });

  test('does not matter for repeats where the lookup counts', async () => {
    const lookup = 'present: $count(data) > 0, receipt: "data[0]", authoritative: true, count: $count(data)';
    const honest = await subjectOf({ constantReceipt: true }, { lookup });
    receipts(honest.subject, [await plain(honest.subject), await plain(honest.subject)]);
    expect(await duplicate(honest.subject)).toMatchObject({ result: 'passed', repeats: 'one' });
    const lying = await subjectOf({ constantReceipt: true, honourKey: false }, { lookup });
    expect(await duplicate(lying.subject)).toMatchObject({
      result: 'failed',
      says: expect.stringContaining('the lookup counts 1 too many'),
    });
  });
});

test('a lookup that finds whatever is looked for is caught', async () => {
  const { subject } = await subjectOf({ lookup: 'anything' });
  expect(await neverUsed(subject)).toMatchObject({ result: 'failed', lookup: 'wrong' });
});

test('a part of an effect is not taken for all of it', async () => {
  const lookup =
    'present: $count(data) > 0, receipt: "data[0]", authoritative: true, count: $count(data), parts: args.n';
  const { subject } = await subjectOf(
    { parts: { done: 1, of: 2 } },
    { path: '/effects/things', lookup, args: { n: 2 } },
  );
  const { finding } = await plain(subject);
  expect(finding).toMatchObject({ result: 'failed', says: expect.stringContaining('1 of 2 parts') });
});

describe('an error after the effect', () => {
  test('is unknown by the general rules, and caught where a file takes it for proof', async () => {
    const { subject } = await subjectOf(null, { promise: statuses('503: not_executed') });
    expect(await replaced(subject, 502)).toMatchObject({ result: 'passed' });
    expect(await replaced(subject, 503)).toMatchObject({
      result: 'failed',
      says: expect.stringMatching(/upstream had answered 201, and the lookup finds .*re_\d+/),
    });
  });

  test('is caught without a lookup, too', async () => {
    const { subject } = await subjectOf(null, { promise: statuses('504: not_executed'), lookup: null });
    expect(await replaced(subject, 504)).toMatchObject({ result: 'failed' });
  });
});

describe('an upstream that honours keys', () => {
  test('is certified where the output need only repeat an argument, since whole receipts agree', async () => {
    const { subject } = await subjectOf(null, { lookup: null, required: 'order_id' });
    receipts(subject, [await plain(subject), await plain(subject)]);
    expect(await duplicate(subject)).toMatchObject({ result: 'passed', repeats: 'one' });
  });

  test('is not certified by repeats that are turned away', async () => {
    const { subject, upstream } = await subjectOf(null);
    const effect = subject.newEffect();
    await effect.send();
    upstream.behave({ match: {}, times: 'always', behaviour: { commit: false, then: 'status:429' } });
    await effect.send();
    expect(await repeated(subject, 'duplicate', effect, 'The same key twice')).toMatchObject({
      result: 'not_testable',
      says: expect.stringContaining('turned away'),
    });
  });

  test('is not certified where nothing tells what a lost attempt did', async () => {
    const { subject } = await subjectOf({ lookup: 'error' });
    const effect = subject.newEffect();
    await effect.send({ kind: 'cut_before_answer' });
    await effect.send();
    expect(await repeated(subject, 'lost_reply', effect, 'The answer was lost')).toMatchObject({
      result: 'not_testable',
      says: expect.stringContaining('nothing tells what it did'),
    });
  });
});

describe('an upstream that ignores keys', () => {
  test('is caught without a lookup: the lost answer had another receipt', async () => {
    const { subject } = await subjectOf({ honourKey: false }, { lookup: null });
    expect(await lostReply(subject)).toMatchObject({
      result: 'failed',
      says: expect.stringContaining('the lost answer showed'),
    });
    expect(await duplicateAtOnce(subject)).toMatchObject({ result: 'failed', repeats: 'more' });
  });

  const uncounted = 'present: $count(data) > 0, receipt: "data[0]", authoritative: true, lag: 0s, spacing: 50ms';

  test.each([
    ['no lookup', null],
    ['a lookup that does not count', uncounted],
  ])('is not certified where the output need only repeat an argument (%s)', async (_, lookup) => {
    const { subject, upstream } = await subjectOf({ honourKey: false }, { lookup, required: 'order_id' });
    const { promises, tool } = subject;
    const plains = [await plain(subject), await plain(subject)];
    const repeats = await Promise.all([duplicate, duplicateAtOnce, lostReply, forgottenKey].map((run) => run(subject)));
    const findings = [
      ...[...plains.map(({ finding }) => finding), receipts(subject, plains), await neverUsed(subject)],
      ...[staleLookup(subject, plains), ...repeats, await lastLook(subject)],
    ];
    const measured = { lagMs: null, processingMs: null };
    expect(certify(promises, tool.terms.lookup === 'authoritative', { findings, measured })).toMatchObject({
      verdict: 'not_shown',
      supported: lookup ? 'lookup' : 'none',
    });
    const says = expect.stringMatching(/nobody can say .*"refund_id":"re_\d+".*"refund_id":"re_\d+"/);
    for (const finding of repeats) expect(finding).toMatchObject({ result: 'not_testable', says });
    const effects = upstream.ledger().filter(({ kind }) => kind === 'effect');
    expect(effects.length).toBeGreaterThan(new Set(effects.map(({ key }) => key)).size);
  });

  test('is not certified where its receipts only repeat their requests', async () => {
    const { subject } = await subjectOf(
      { honourKey: false, constantReceipt: true },
      { lookup: null, required: 'order_id' },
    );
    const plains = [await plain(subject), await plain(subject)];
    expect(receipts(subject, plains)).toMatchObject({ result: 'observed', says: expect.stringContaining('"count"') });
    expect(await duplicate(subject)).toMatchObject({ result: 'not_testable' });
  });

  test('is caught by the last look, where the first count came too soon', async () => {
    const lookup = `${uncounted.replace('lag: 0s', 'lag: 700ms')}, count: $count(data)`;
    const { subject } = await subjectOf(
      { honourKey: false, constantReceipt: true, lookup: 'lag:500' },
      { lookup, settle: '1s', holdMs: 700 },
    );
    expect(await forgottenKey(subject)).toMatchObject({ result: 'passed', repeats: 'one' });
    expect(await lastLook(subject)).toMatchObject({ result: 'failed', repeats: 'more' });
  });

  test('is no surprise where nothing is declared', async () => {
    const { subject, upstream } = await subjectOf(null, {
      path: '/legacy/tickets',
      promise: 'guarantee: none',
      lookup: null,
    });
    expect(await duplicate(subject)).toMatchObject({ result: 'observed', repeats: 'more' });
    // Nobody can tell, so nothing is sent again.
    expect(await lostReply(subject)).toMatchObject({ result: 'not_testable' });
    expect(upstream.ledger().filter(({ kind }) => kind === 'effect')).toHaveLength(3);
  });
});

test('an accepted request is followed to its end', async () => {
  const poll =
    'guarantee: idempotency_key\n  poll: { path: "/operations/{{accepted.operation_id}}", executed: \'state = "done"\', failed: \'state = "failed"\', receipt: result, interval: 20ms }';
  const operation = { afterMs: 60, end: 'done' } as const;
  const { subject } = await subjectOf({ then: 'accepted', operation }, { promise: poll });
  expect((await plain(subject)).finding).toMatchObject({ result: 'passed' });
});

test('every attempt is one request on the wire', async () => {
  const { subject } = await subjectOf(null);
  await Promise.all([duplicate(subject), lostReply(subject), lateCommit(subject)]);
  expect(hiddenResender(subject)).toMatchObject({ result: 'passed', says: '5 attempts, 5 wire requests.' });
});

test('where a plain call does not work, nothing else is tried, and that is said', async () => {
  const { subject } = await subjectOf({ commit: false, then: 'status:400' });
  const { promises, tool } = subject;
  const { findings, verdict, supported } = certify(
    promises,
    tool.terms.lookup === 'authoritative',
    await campaign(subject, 1),
  );
  expect({ verdict, supported }).toEqual({ verdict: 'broken', supported: 'none' });
  expect(findings.find(({ probe }) => probe === 'duplicate')).toMatchObject({
    result: 'not_testable',
    says: expect.stringContaining('plain call'),
  });
});
