import type { ToolDefinition } from '@intendant/contracts';
import { parseToolFile } from './parse-tool-file.js';
import type { ToolFileProblem } from './tool-file-error.js';
import { ToolFileError } from './tool-file-error.js';

/** A replacement in the text of the file; the first text must occur in it. */
export type Edit = readonly [from: string, to: string];

export const environment = { PAYMENTS_URL: 'https://payments.example/api' };

const file = `apiVersion: intendant/v1
name: payments.refund.create
version: 1
description: |
  Refund a captured payment to its original card.
effect: destructive
reversible: false
permission: payments:refund
phases: [resolve]
input:
  type: object
  additionalProperties: false
  required: [order_id, amount_cents]
  properties:
    order_id: { type: string, pattern: "^ord_[A-Za-z0-9]+$" }
    amount_cents: { type: integer, minimum: 1, maximum: 1000000 }
    reason: { type: string, enum: [duplicate, fraudulent] }
output: { type: object, required: [refund_id], properties: { refund_id: { type: string } } }
inject: { tenant_id: tenant, agent_user: user }
limits: { connect: 1s, call: 8s, concurrency: 8 }
retry: { attempts: 4, backoff: 250ms }
upstream:
  http:
    baseUrl: \${PAYMENTS_URL}
    method: POST
    path: /refunds
    headers: { X-Order: "{{order_id}}" }
    body: "$args"
  statuses: { 409: in_progress }
  guarantee: idempotency_key
  keyRetention: PT24H
  maxProcessing: 10s
  lookup:
    path: "/refunds?key={{key}}"
    present: "$count(data) > 0"
    receipt: "data[0]"
    authoritative: true
    lag: 500ms
`;

/** A good tool file, changed. */
export function refundFile(...edits: readonly Edit[]): string {
  return edits.reduce((text, [from, to]) => {
    if (!text.includes(from)) throw new Error(`not in the file: ${from}`);
    return text.replace(from, () => to);
  }, file);
}

export function refundTool(...edits: readonly Edit[]): ToolDefinition {
  return parseToolFile('refund.tool.yaml', refundFile(...edits), environment);
}

/** What is wrong with the changed file; empty when nothing is. */
export function problemsOf(...edits: readonly Edit[]): readonly ToolFileProblem[] {
  try {
    refundTool(...edits);
    return [];
  } catch (error) {
    if (error instanceof ToolFileError) return error.problems;
    throw error;
  }
}

/** The problems as `line field: message`. */
export function report(...edits: readonly Edit[]): string[] {
  return problemsOf(...edits).map(({ line, field, message }) => `${line} ${field}: ${message}`);
}
