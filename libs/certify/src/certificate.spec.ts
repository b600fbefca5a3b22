import type { Promises } from '@intendant/tools';
import { expect, test } from 'vitest';
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
const keys = [finding('duplicate', { repeats: 'one' }), finding('duplicate_at_once', { repeats: 'one' })];
const supported = (findings: readonly Finding[], authoritative = true, promises = declared) =>
  certify(promises, authoritative, { findings, measured }).supported;

test('a key guarantee takes both kinds of duplicates, and no second effect anywhere', () => {
  expect(supported(keys)).toBe('idempotency_key');
  expect(supported(keys, true, { ...declared, guarantee: 'conditional_create' })).toBe('conditional_create');
  expect(supported(keys.slice(0, 1))).toBe('none');
  expect(supported([...keys, finding('forgotten_key', { repeats: 'more' })])).toBe('none');
});

test('a lookup guarantee takes a lookup that is authoritative, right and never wrong, and receipts that differ', () => {
  const right = finding('plain', { lookup: 'right' });
  expect(supported([right])).toBe('lookup');
  expect(supported([right], false)).toBe('none');
  expect(supported([right, finding('never_used', { lookup: 'wrong' })])).toBe('none');
  expect(supported([right, finding('receipts', { result: 'failed' })])).toBe('none');
});

test('of several rounds the worst counts', () => {
  const rounds = [finding('duplicate'), finding('duplicate', { result: 'failed' }), finding('duplicate')];
  expect(certify(declared, true, { findings: rounds, measured })).toMatchObject({
    holds: false,
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
