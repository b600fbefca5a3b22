import type { Session, ToolDefinition } from '@intendant/contracts';
import { expect, test } from 'vitest';
import { propose } from './admission.js';

const session: Session = {
  tenant: 'acme',
  runId: 'run_01J9Z3M5V6W7X8Y9Z0A1B2C3D4',
  user: 'ada',
  permissions: [],
  phase: null,
  profile: 'interactive',
  expiresAt: 1_000,
};
const tool = {
  name: 'payments.refund.create',
  version: 2,
  contractDigest: 'digest',
  inject: { tenant_id: 'tenant', agent_user: 'user', run: 'run' },
  terms: { effect: 'destructive' },
} as unknown as ToolDefinition;

test('identity and injected fields come from the session, whatever the arguments say', () => {
  const submission = {
    intentId: 'i',
    stepId: null,
    args: { tenant_id: 'globex' },
    dropped: [],
    key: 'k',
    fingerprint: 'f',
    sandbox: false,
    traceparent: null,
    ...{ expiresAt: 1_000, cost: 0, operation: null, likeness: null, taintedBy: null },
  };
  expect(propose(submission, session, tool)).toMatchObject({
    tenant: 'acme',
    user: 'ada',
    runId: session.runId,
    toolVersion: 2,
    expiresAt: 1_000,
    injected: { tenant_id: 'acme', agent_user: 'ada', run: session.runId },
  });
});
