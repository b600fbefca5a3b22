import type { PauseScope, ToolDefinition } from '@intendant/contracts';
import { expect, test } from 'vitest';
import { covers, pauseOver } from './pause.js';

const everything: PauseScope = { tenant: null, tool: null, namespace: null, upstream: null };
const refund = { name: 'payments.refund.create', upstream: { name: 'bank' } } as ToolDefinition;

test.each<[Partial<PauseScope>, boolean]>([
  [{}, true],
  [{ tool: 'payments.refund.create' }, true],
  [{ tool: 'payments.refund' }, false],
  [{ namespace: 'payments' }, true],
  [{ namespace: 'payments.refund' }, true],
  [{ namespace: 'pay' }, false],
  [{ namespace: 'payments.refund.create' }, false],
  [{ upstream: 'bank' }, true],
  [{ upstream: 'desk' }, false],
  [{ namespace: 'payments', upstream: 'bank' }, true],
  [{ namespace: 'payments', upstream: 'desk' }, false],
  [{ tenant: 'globex' }, true],
])('a scope of %j covers a tool: %s', (scope, covered) => {
  expect(covers({ ...everything, ...scope }, refund)).toBe(covered);
});

test('a pause of one tenant is over nobody else', () => {
  const globex = { ...everything, tenant: 'globex', until: null };
  expect(pauseOver([globex], 'acme', refund)).toBeNull();
  expect(pauseOver([globex], 'globex', refund)).toBe(globex);
});

test('of several pauses the one counts that ends last', () => {
  const at = (until: string | null) => ({ ...everything, until });
  const [soon, late, open] = [at('2026-01-01T10:00:00Z'), at('2026-01-01T12:00:00Z'), at(null)];
  expect(pauseOver([soon, late], 'acme', refund)).toBe(late);
  expect(pauseOver([late, soon], 'acme', refund)).toBe(late);
  expect(pauseOver([soon, open, late], 'acme', refund)).toBe(open);
  expect(pauseOver([], 'acme', refund)).toBeNull();
});
