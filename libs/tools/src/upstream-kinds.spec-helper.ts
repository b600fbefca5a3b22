import { parseToolFile } from './parse-tool-file.js';
import { ToolFileError } from './tool-file-error.js';

/** The `upstream` part of a good tool of each kind; indented for its place in the file. */
export const upstreams = {
  http: `
  http: { baseUrl: "https://real.example", method: POST, path: /refunds, body: $args }
  sandbox: { baseUrl: "https://test.example" }
  outcomes:
    - { when: "status = 409 and data.code = 'done'", means: executed, receipt: data.refund }
    - { when: "$contains($text, 'busy')", means: in_progress }
  guarantee: lookup
  maxProcessing: 10s
  lookup: { path: "/refunds?key={{key}}", present: "$count(data) > 0", count: $count(data), parts: $count($args.lines), authoritative: true }
  poll: { path: "/jobs/{{accepted.id}}", executed: "state = 'done'", failed: "state = 'failed'", receipt: result }
`,
  mcp: `
  mcp: { url: "https://real.example/mcp?v=1", headers: { X-Team: agents }, tool: refund, arguments: "{ 'order': $args.order_id, 'key': key }" }
  sandbox: { url: "https://test.example/mcp" }
  outcomes: [{ when: "isError and $text = 'exists'", means: executed, receipt: data.refund }]
  guarantee: lookup
  maxProcessing: 10s
  lookup: { tool: find_refund, arguments: "{ 'key': key }", present: $count(data) > 0, authoritative: true }
  poll: { tool: job, arguments: "{ 'id': accepted.id }", executed: "state = 'done'", failed: "state = 'failed'" }
`,
  process: `
  process: { argv: [refund, "--key={{key}}", --order, "{{order_id}}", '{"a":{"b":1}}'], env: { LEDGER: real }, exits: { 3: not_executed } }
  sandbox: { env: { LEDGER: test } }
  outcomes: [{ when: "$exit = 4 and $stderr = ''", means: unknown }]
  guarantee: lookup
  maxProcessing: 10s
  lookup: { argv: [refund, find, --, "{{key}}"], present: $count(data) > 0, absent: [1, 255], authoritative: true }
  poll: { argv: [refund, job, "{{accepted.id}}"], executed: "state = 'done'", failed: "exit = 3" }
`,
  module: `
  module: { file: refund.ts }
  sandbox: { file: refund-sandbox.ts }
  guarantee: lookup
  maxProcessing: 10s
  lookup: { authoritative: true, lag: 1s }
  poll: { interval: 5s, deadline: 10m }
`,
} as const;

export type Kind = keyof typeof upstreams;

/** A good tool file of that kind, changed. */
export function fileOf(kind: Kind, ...edits: readonly (readonly [from: string, to: string])[]): string {
  const text = `apiVersion: intendant/v1
name: payments.refund.create
version: 1
description: Refund a payment.
effect: destructive
permission: payments:refund
input: { type: object, additionalProperties: false, required: [order_id], properties: { order_id: { type: string }, note: { type: string } } }
output: { type: object, required: [refund_id], properties: { refund_id: { type: string } } }
upstream:${upstreams[kind]}`;
  return edits.reduce((file, [from, to]) => {
    if (!file.includes(from)) throw new Error(`not in the file: ${from}`);
    return file.replace(from, () => to);
  }, text);
}

export function toolOf(kind: Kind, ...edits: readonly (readonly [from: string, to: string])[]) {
  return parseToolFile('/tools/refund.tool.yaml', fileOf(kind, ...edits), {});
}

/** What is wrong with the changed file, as `field: message`. */
export function mistakesOf(kind: Kind, ...edits: readonly (readonly [from: string, to: string])[]): string[] {
  try {
    toolOf(kind, ...edits);
    return [];
  } catch (error) {
    if (error instanceof ToolFileError) return error.problems.map(({ field, message }) => `${field}: ${message}`);
    throw error;
  }
}
