import type { Promises } from '@intendant/tools';
import { describe, expect, test } from 'vitest';
import { argumentsOf, numbered } from './arguments.js';
import { certify } from './certificate.js';
import type { Finding, ProbeName } from './finding.js';
import { identityOf } from './receipts.js';
import { subjectOf } from './tool.spec-helper.js';

const declared: Promises = {
  guarantee: 'idempotency_key',
  keyRetention: { ms: 1, basis: 'documented' },
  maxProcessing: { ms: 1, basis: 'documented' },
  lag: { ms: 0, basis: 'documented' },
};
const measured = { lagMs: null, processingMs: null };
const finding = (probe: ProbeName, rest: Partial<Finding> = {}): Finding => ({
  ...{ probe, result: 'passed', says: '', evidence: [] },
  ...rest,
});
const one = { repeats: 'one' } as const;
const duplicates = [finding('duplicate', one), finding('duplicate_at_once', one)];
const keys = [...duplicates, finding('forgotten_key', one)];
const lookups = [finding('plain', { lookup: 'right' }), finding('never_used', { lookup: 'right' })];
const untested = { result: 'not_testable' } as const;
const supported = (findings: readonly Finding[], authoritative = true, promises = declared) =>
  certify(promises, authoritative, { findings, measured }).supported;

test('a key guarantee takes both kinds of duplicates, a key that is kept, and no second effect anywhere', () => {
  expect(supported(keys)).toBe('idempotency_key');
  expect(supported(keys, true, { ...declared, guarantee: 'conditional_create' })).toBe('conditional_create');
  expect(supported(keys.slice(1))).toBe('none');
  expect(supported(duplicates)).toBe('none');
  expect(supported([...keys, finding('last_look', { repeats: 'more' })])).toBe('none');
});

test('keys may be stronger than what is declared, though nothing is declared about how long they are kept', () => {
  expect(supported(duplicates, true, { ...declared, guarantee: 'lookup' })).toBe('idempotency_key');
});

test('a lookup guarantee takes a lookup that is authoritative, right and never wrong, and receipts that differ', () => {
  expect(supported(lookups)).toBe('lookup');
  expect(supported(lookups, false)).toBe('none');
  expect(supported(lookups.slice(1))).toBe('none');
  expect(supported([...lookups, finding('lost_reply', { lookup: 'wrong' })])).toBe('none');
  expect(supported([...lookups, finding('receipts', { result: 'failed' })])).toBe('none');
});

test('what could not be tested supports nothing, in no round', () => {
  const kills = (['lost_reply', 'killed_after_request', 'killed_after_reply'] as const).map((probe) =>
    finding(probe, one),
  );
  expect(supported([...kills, ...keys.map(({ probe }) => finding(probe, untested))])).toBe('none');
  expect(supported([...keys, ...keys.map(({ probe }) => finding(probe, untested))])).toBe('none');
  expect(supported([...lookups, finding('never_used', untested)])).toBe('none');
});

describe('a declaration', () => {
  const judged = (guarantee: Promises['guarantee'], findings: readonly Finding[], authoritative = true) => {
    const { verdict, holds } = certify({ ...declared, guarantee }, authoritative, { findings, measured });
    return [verdict, holds];
  };

  test('holds when what is seen is enough for it', () => {
    expect(judged('idempotency_key', keys)).toEqual(['holds', true]);
    expect(judged('conditional_create', keys)).toEqual(['holds', true]);
    expect(judged('lookup', lookups)).toEqual(['holds', true]);
    expect(judged('none', [finding('plain')])).toEqual(['holds', true]);
  });

  test('is not shown when nothing was learned, or only something weaker or something else', () => {
    expect(judged('idempotency_key', [finding('duplicate', untested)])).toEqual(['not_shown', false]);
    expect(judged('conditional_create', lookups)).toEqual(['not_shown', false]);
    expect(judged('lookup', [finding('plain')])).toEqual(['not_shown', false]);
    expect(judged('lookup', duplicates)).toEqual(['not_shown', false]);
    expect(judged('lookup', lookups, false)).toEqual(['not_shown', false]);
  });

  test('is broken by one probe that failed, whatever else is seen', () => {
    expect(judged('idempotency_key', [...keys, finding('error_503', { result: 'failed' })])).toEqual(['broken', false]);
  });
});

test('of several rounds the worst counts', () => {
  const rounds = [finding('duplicate'), finding('duplicate', { result: 'failed' }), finding('duplicate')];
  expect(certify(declared, true, { findings: rounds, measured })).toMatchObject({
    verdict: 'broken',
    findings: [{ probe: 'duplicate', result: 'failed' }],
  });
});

test('receipts are told apart by the fields that the output must have', async () => {
  const { tool } = (await subjectOf(null)).subject;
  const one = identityOf(tool, { refund_id: 're_1', at: 1 });
  expect(identityOf(tool, { at: 2, refund_id: 're_1' })).toBe(one);
  expect(identityOf(tool, { refund_id: 're_2', at: 1 })).not.toBe(one);
  const loose = { ...tool, output: null };
  expect(identityOf(loose, { a: 1, b: [2] })).toBe(identityOf(loose, { b: [2], a: 1 }));
});

test('arguments are numbered and completed as for a run', async () => {
  expect(numbered({ a: ['x-{{n}}', { b: '{{ n }}' }], c: 5 }, 7)).toEqual({ a: ['x-7', { b: '7' }], c: 5 });
  const { tool } = (await subjectOf(null)).subject;
  const caller = { tenant: 't1', user: 'u1', run: 'r1' };
  const injecting = { ...tool, inject: { agent: 'user', place: 'tenant' } as const };
  expect(argumentsOf(injecting, { n: '{{n}}' }, 7, caller)).toEqual({ n: '7', agent: 'u1', place: 't1' });
});

test('arguments that the tool would refuse are refused before anything is sent', async () => {
  await expect(subjectOf(null, { args: { amount_cents: 'much' } })).rejects.toThrow(/\/amount_cents: expected/);
});
