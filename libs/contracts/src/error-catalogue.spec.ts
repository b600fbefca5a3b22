import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { type ErrorCode, errorKinds } from './errors.js';
import { attempt, intentIn } from './intents.spec-helper.js';
import { resultOf } from './result.js';

/** Where running services produce each code, and what it says is read as by an agent. */
const proofs: Readonly<Record<ErrorCode, string>> = {
  invalid_message: 'test/flow/bad-input.flow.spec.ts',
  unauthenticated: 'test/flow/bad-senders.flow.spec.ts',
  run_closed: 'test/flow/bad-senders.flow.spec.ts',
  forbidden: 'test/flow/pauses.flow.spec.ts',
  not_found: 'test/flow/mcp.flow.spec.ts',
  unknown_tool: 'test/flow/bad-input.flow.spec.ts',
  invalid_arguments: 'test/flow/bad-input.flow.spec.ts',
  permission_denied: 'test/flow/admission.flow.spec.ts',
  fabricated_identifier: 'test/flow/admission.flow.spec.ts',
  approval_refused: 'test/flow/approvals.flow.spec.ts',
  approval_expired: 'test/flow/approvals-expiry.flow.spec.ts',
  denied_before: 'test/flow/approvals-authority.flow.spec.ts',
  rule_denied: 'test/flow/admission.flow.spec.ts',
  budget_exhausted: 'test/flow/admission.flow.spec.ts',
  rate_limited: 'test/flow/admission.flow.spec.ts',
  duplicate_business_operation: 'test/flow/admission.flow.spec.ts',
  blocked_by_unknown: 'test/flow/admission.flow.spec.ts',
  paused: 'test/flow/pauses.flow.spec.ts',
  idempotency_conflict: 'test/flow/stories-agents.flow.spec.ts',
  conflict: 'test/flow/bad-senders.flow.spec.ts',
  upstream_rejected: 'test/flow/client.flow.spec.ts',
  upstream_unavailable: 'test/flow/stories-outages.flow.spec.ts',
  tool_timeout: 'test/flow/stories-upstream.flow.spec.ts',
  output_invalid: 'test/flow/wrong-answers.flow.spec.ts',
  resolved_not_executed: 'test/flow/gateway.flow.spec.ts',
  cancelled: 'test/flow/stories-agents.flow.spec.ts',
  expired: 'test/flow/stories-outages.flow.spec.ts',
  outcome_unknown: 'test/flow/stories-stalls.flow.spec.ts',
  dead_lettered: 'test/flow/stories-stalls.flow.spec.ts',
  unavailable: 'test/flow/stories-repeats.flow.spec.ts',
  // A fault in Intendant, which nobody can ask for: its services are given one.
  internal: 'libs/bus/src/requests.int.spec.ts',
};

const root = new URL('../../../', import.meta.url);
const textOf = (file: string) => readFileSync(new URL(file, root), 'utf8');
const nearby = 6;

/** True where the spec has the code next to the message or the next action. */
function reads(spec: string, code: string): boolean {
  const lines = textOf(spec).split('\n');
  return lines.some((line, n) => {
    const around = lines.slice(Math.max(0, n - nearby), n + nearby + 1).join('\n');
    return new RegExp(`['"]${code}['"]`).test(line) && /\b(?:message|nextAction)\b/.test(around);
  });
}

describe.each(Object.entries(errorKinds))('the error %s', (code, { http, category, nextAction, retryable }) => {
  test('asks for what fits its status and category', () => {
    expect(retryable).toBe(nextAction === 'wait');
    if (http === 202) expect(['check_outcome', 'ask_human']).toContain(nextAction);
    if (http === 200) expect(['dependency', 'policy']).toContain(category);
    if (category === 'internal') expect(http).toBeGreaterThanOrEqual(500);
    else expect(http).toBeLessThan(500);
    if (category === 'validation') expect([400, 404, 422]).toContain(http);
    if (category === 'conflict') expect([409, 422]).toContain(http);
    if (nextAction === 'fix_arguments') expect([400, 422, 200]).toContain(http);
  });

  test('is produced in a spec that reads it', () => {
    const spec = proofs[code as ErrorCode];
    expect(spec).toMatch(code === 'internal' ? /\.int\.spec\.ts$/ : /\.flow\.spec\.ts$/);
    expect(reads(spec, code), `${spec} has no ${code}`).toBe(true);
  });

  test('is in docs/errors.md as it is', () => {
    const row = `| \`${code}\` | ${http} | ${category} | ${nextAction} | ${retryable ? 'yes' : 'no'} | `;
    expect(textOf('docs/errors.md')).toContain(row);
  });
});

test('docs/errors.md has no code that does not exist', () => {
  const documented = [...textOf('docs/errors.md').matchAll(/^\| `(\w+)` /gm)].map(([, code]) => code);
  expect(documented).toEqual(Object.keys(errorKinds));
});

test.each([
  ['unknown', intentIn('unknown'), /may or may not have happened/, /being checked/],
  ['accepted', intentIn('accepted'), /took the request/, /still working on it/],
  ['dead', intentIn('dead_lettered'), /not known whether/, /operator has to resolve/],
  ['sent again', intentIn('authorized', { attempts: [attempt('unknown')] }), /without an answer/, /being sent again/],
])('an unknown outcome (%s) says what is known, what is done, and not to call again', (_, intent, known, done) => {
  const { outcome, error } = resultOf(intent, false);
  expect(outcome).toBe('unknown');
  expect(error?.message).toMatch(known);
  expect(error?.message).toMatch(done);
  expect(error?.message).toMatch(/Do not call it again/);
  expect(error).toMatchObject({ retryable: false });
});
