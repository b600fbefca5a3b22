import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { schemaViolations, violations } from './compile-schema.js';
import { parseToolFile } from './parse-tool-file.js';
import { refundFile } from './refund-tool.spec-helper.js';
import { ToolFileError } from './tool-file-error.js';
import { toolFileSchema } from './tool-file-schema.js';

/** The example of the public contract: every field there is. */
const everyField = `apiVersion: intendant/v1
name: payments.refund.create
version: 1
description: |
  Refund a captured payment to its original card.
effect: destructive
compensation: { tool: payments.refund.undo, args: "$" }
permission: payments:refund
phases: [resolve]
input:  { type: object, additionalProperties: false, required: [order_id], properties: { order_id: { type: string }, amount_cents: { type: integer, minimum: 1 }, note: { type: string } } }
output: { type: object, required: [refund_id], properties: { refund_id: { type: string }, card: { type: object, properties: { number: { type: string } } }, items: { type: array }, count: { type: integer } } }
inject: { tenant_id: tenant, agent_user: user }
businessKey: { fields: [/order_id], window: P90D }
approval:
  { required: true, quorum: 2, ttl: PT5M, view: "Refund {{amount_cents}} cents to the card of order {{order_id}}", impact: "Money of {{tenant_id}}", undo: "Not at all", roles: [operator], groups: [payments], selfApproval: true, redact: [/note], remember: tenant }
limits: { connect: 2s, call: 8s, notice: 5s, concurrency: 8, ratePerTenant: 10/s, cost: "args.amount_cents / 100.0" }
retry: { attempts: 3 }
result: { maxBytes: 16384, redact: [/card/number], patterns: [card], trust: first_party, list: { at: /items, limit: 10, max: 20, total: /count, argument: amount_cents, order: newest first, narrow: [order_id] } }
upstream:
  http: { baseUrl: \${PAYMENTS_URL}, method: POST, path: /refunds, headers: {}, body: "$args", credential: payments }
  sandbox: { baseUrl: \${PAYMENTS_SANDBOX_URL}, credential: payments_sandbox }
  statuses: { 409: in_progress }
  guarantee: idempotency_key
  keyRetention: PT24H
  maxProcessing: 10s
  lookup: { method: GET, path: "/refunds?key={{key}}", present: "$count(data) > 0", receipt: "data[0]", absent: [404], authoritative: true, lag: 0s }
`;

describe('the schema of tool files', () => {
  test('is a JSON Schema 2020-12', () => {
    expect(schemaViolations(toolFileSchema)).toEqual([]);
  });

  test('accepts the files that the loader accepts', () => {
    expect(violations(toolFileSchema, parse(refundFile(), { stringKeys: true }))).toEqual([]);
  });

  test('knows every field of the public contract, and the loader refuses only what is not supported yet', () => {
    const env = { PAYMENTS_URL: 'http://payments.example', PAYMENTS_SANDBOX_URL: 'http://sandbox.example' };
    const error = (() => {
      try {
        return parseToolFile('all.tool.yaml', everyField, env);
      } catch (reason) {
        return reason;
      }
    })();
    expect(error).toBeInstanceOf(ToolFileError);
    const problems = error instanceof ToolFileError ? error.problems : [];
    expect(problems.map(({ message }) => message.slice(0, 17))).toEqual(
      Array(problems.length).fill('not supported yet'),
    );
    expect(problems.map(({ line, field }) => `${line} ${field}`)).toEqual(['7 compensation']);
  });
});
