import { fileURLToPath } from 'node:url';
import type { JsonObject } from '@intendant/intent';
import { parseToolFile, readPromises } from '@intendant/tools';
import { onTestFinished } from 'vitest';
import { type Behaviour, startUpstream, type Upstream } from '../../../examples/upstream/server.js';
import { Subject } from './subject.js';

/** What differs from a refund with a key and a lookup that tells the truth at once. */
export interface Changes {
  readonly path?: '/refunds' | '/legacy/tickets' | '/effects/things';
  /** Lines under `upstream`. */
  readonly promise?: string;
  /** Field that the output must have; the identifier of the effect when left out. */
  readonly required?: string;
  readonly lookup?: string | null;
  readonly retention?: string;
  readonly settle?: string;
  readonly args?: JsonObject;
  readonly holdMs?: number;
}

const receiptFields = { '/refunds': 'refund_id', '/legacy/tickets': 'ticket_id', '/effects/things': 'effect_id' };
const truth = 'present: $count(data) > 0, receipt: "data[0]", authoritative: true, lag: 0s, spacing: 50ms';

/** A demo upstream that does this to every request or lookup, as the sandbox of a tool under test. */
export async function subjectOf(
  behaviour: Behaviour | null,
  changes: Changes = {},
): Promise<{ readonly subject: Subject; readonly upstream: Upstream }> {
  const upstream = await startUpstream();
  onTestFinished(() => upstream.close());
  if (behaviour) upstream.behave({ match: {}, times: 'always', behaviour });
  const { path = '/refunds', promise = 'guarantee: idempotency_key', retention = 'PT24H' } = changes;
  const { lookup = truth, settle = '300ms' } = changes;
  const text = `apiVersion: intendant/v1
name: things.create
version: 1
description: Creates a thing.
effect: write
permission: things:create
input: { type: object, additionalProperties: false, properties: { order_id: { type: string }, amount_cents: { type: integer }, title: { type: string }, n: { type: integer } } }
output: { type: object, required: [${changes.required ?? receiptFields[path]}] }
limits: { connect: 1s, call: 2s }
upstream:
  http: { baseUrl: "http://127.0.0.1:9", method: POST, path: ${path}, body: $args }
  sandbox: { baseUrl: "${upstream.url}" }
  maxProcessing: 200ms
  settle: ${settle}
${lookup === null ? '' : `  lookup: { path: "${path}?key={{key}}", ${lookup} }\n`}${
  promise.includes('idempotency_key') ? `  keyRetention: ${retention}\n` : ''
}  ${promise}
`;
  const file = 'things.tool.yaml';
  const subject = await Subject.start({
    tool: parseToolFile(file, text, {}),
    promises: readPromises(file, text, {}),
    sandbox: true,
    args: changes.args ?? { order_id: 'ord_{{n}}', amount_cents: 100, title: 'Thing {{n}}' },
    holdMs: changes.holdMs ?? 300,
    env: {},
    // Only the build has it as a script; what is killed is tested on the real command line.
    worker: fileURLToPath(new URL('./nowhere.js', import.meta.url)),
  });
  onTestFinished(() => subject.close());
  return { subject, upstream };
}
