import type { Session } from '@intendant/contracts';
import { describe, expect, test } from 'vitest';
import { catalogue } from './catalogue.js';
import { mayCall } from './may-call.js';
import { refundTool } from './refund-tool.spec-helper.js';
import { createRegistry } from './registry.js';

const refund = refundTool();
const read = refundTool(
  ['payments.refund.create', 'orders.get'],
  ['payments:refund', 'orders:read'],
  ['phases: [resolve]\n', ''],
);
const registry = createRegistry([refund, read]);

function session(permissions: string[], phase: string | null = 'resolve'): Session {
  return { tenant: 'acme', runId: 'run_1', user: 'ann', permissions, phase, profile: 'interactive', expiresAt: 0 };
}

describe('a session may call a tool', () => {
  test.each<[string[], boolean]>([
    [['payments:refund'], true],
    [['orders:read', 'payments:*'], true],
    [['*'], true],
    [[], false],
    [['payments'], false],
    [['payments:refund:all'], false],
    [['Payments:Refund'], false],
    [['orders:*'], false],
    [['*:refund'], false],
  ])('with the permissions %j: %s', (permissions, allowed) => {
    expect(mayCall(refund, session(permissions)).allowed).toBe(allowed);
  });

  test.each<[string | null, boolean]>([
    ['resolve', true],
    ['triage', false],
    [null, false],
  ])('in the phase %s: %s', (phase, allowed) => {
    expect(mayCall(refund, session(['*'], phase)).allowed).toBe(allowed);
    expect(mayCall(read, session(['*'], phase)).allowed).toBe(true);
  });

  test('or is told what is missing', () => {
    expect(mayCall(refund, session([]))).toEqual({
      allowed: false,
      reason: 'payments.refund.create needs the permission payments:refund, which this run does not have',
    });
    expect(mayCall(refund, session(['*'], 'triage'))).toEqual({
      allowed: false,
      reason: 'payments.refund.create may only be called in the phase resolve; this run is in triage',
    });
  });
});

describe('the catalogue', () => {
  test('shows only what the session may call, by name', () => {
    const names = (permissions: string[], phase?: string) =>
      catalogue(registry, session(permissions, phase)).map(({ name }) => name);
    expect(names(['*'])).toEqual(['orders.get', 'payments.refund.create']);
    expect(names(['*'], 'triage')).toEqual(['orders.get']);
    expect(names(['payments:refund'])).toEqual(['payments.refund.create']);
    expect(names([])).toEqual([]);
  });

  test('of a sandbox run shows only tools that have a sandbox', () => {
    const mocked = { ...read, sandbox: read.upstream };
    const listed = catalogue(createRegistry([refund, mocked]), { ...session(['*']), sandbox: true });
    expect(listed.map(({ name }) => name)).toEqual(['orders.get']);
  });

  test('shows nothing of the runtime layer', () => {
    const [entry] = catalogue(registry, session(['payments:refund']));
    expect(entry).toEqual({
      name: 'payments.refund.create',
      description: 'Refund a captured payment to its original card.',
      version: 1,
      effect: 'destructive',
      reversible: false,
      inputSchema: refund.input,
      outputSchema: refund.output,
    });
  });
});

describe('a suggestion', () => {
  test('is the nearest name, whatever the order of its words', () => {
    expect(registry.suggest('payments.refund.creat')).toBe('payments.refund.create');
    expect(registry.suggest('create_payments_refund')).toBe('payments.refund.create');
    expect(registry.suggest('getOrders')).toBe('orders.get');
    expect(registry.suggest('calendar.event.delete')).toBeUndefined();
    expect(registry.suggest('x'.repeat(100_000))).toBeUndefined();
  });

  test('names nothing that the caller may not know about', () => {
    const visible = (tool: typeof refund) => mayCall(tool, session(['orders:read'])).allowed;
    expect(registry.suggest('payments.refund.creat', visible)).toBeUndefined();
  });
});
