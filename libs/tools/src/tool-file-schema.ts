import {
  approvalRoles,
  defaultPatterns,
  groupPattern,
  mostShownBytes,
  redactionPatterns,
  shownBytes,
  toolNamePattern,
} from '@intendant/contracts';
import type { JsonObject } from '@intendant/intent';
import { durationPattern } from './duration.js';
import { previewSchema } from './preview-schema.js';
import { ratePattern } from './rate.js';
import { resultListSchema } from './result-list-schema.js';
import { upstreamSchema } from './upstream-schema.js';

const duration = { $ref: '#/$defs/duration' };
const atLeastOne = { type: 'integer', minimum: 1, title: 'a whole number, 1 or more' };
const text = { type: 'string', minLength: 1, title: 'text' };
const jsonPointers = {
  type: 'array',
  minItems: 1,
  uniqueItems: true,
  items: { type: 'string', pattern: '^(?:/[^/]*)+$', title: 'a JSON Pointer such as /order_id' },
  title: 'a list of JSON Pointers without repetition',
};

/**
 * JSON Schema 2020-12 of a tool file, for editors and for the loader. Every `title` is a noun phrase: it completes
 * "must be …" in the loader's messages.
 */
export const toolFileSchema: JsonObject = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'a tool file',
  type: 'object',
  additionalProperties: false,
  required: ['apiVersion', 'name', 'version', 'description', 'effect', 'permission', 'input', 'upstream'],
  properties: {
    apiVersion: { enum: ['intendant/v1'] },
    name: {
      type: 'string',
      maxLength: 64,
      pattern: toolNamePattern.source,
      title: 'lower-case words joined by dots, such as payments.refund.create, 64 characters at most',
      allOf: [
        {
          not: { pattern: '^intendant\\.' },
          title: 'a name that does not begin with `intendant.`: those are tools of Intendant itself',
        },
      ],
    },
    version: { ...atLeastOne, description: 'Raise it when the contract changes.' },
    description: { ...text, description: 'For the model: what the tool does, and when not to use it.' },
    effect: { enum: ['read', 'write', 'destructive'] },
    reversible: { type: 'boolean', title: 'true or false' },
    compensation: {
      type: 'object',
      title: 'the inverse tool',
      additionalProperties: false,
      required: ['tool', 'args'],
      properties: { tool: text, args: text },
    },
    permission: {
      type: 'string',
      pattern: '^[A-Za-z0-9][A-Za-z0-9:._-]{0,127}$',
      title: 'a permission such as payments:refund, without `*`',
    },
    phases: {
      type: 'array',
      minItems: 1,
      uniqueItems: true,
      items: { type: 'string', pattern: '^[a-z][a-z0-9_-]*$', title: 'a lower-case word' },
      title: 'a list of phases without repetition',
    },
    input: { type: 'object', title: 'a JSON Schema of the arguments' },
    output: { type: 'object', title: 'a JSON Schema of the result' },
    inject: {
      type: 'object',
      title: 'trusted fields and where they come from',
      propertyNames: { pattern: '^[A-Za-z_][A-Za-z0-9_]*$', title: 'a field name of letters, digits and `_`' },
      additionalProperties: { enum: ['tenant', 'user', 'run'] },
    },
    businessKey: {
      type: 'object',
      title: 'the business identity of a call',
      additionalProperties: false,
      required: ['fields', 'window'],
      properties: { fields: jsonPointers, window: duration },
    },
    similar: {
      type: 'object',
      title: 'what makes a call look like an earlier one',
      additionalProperties: false,
      required: ['fields', 'window', 'mode'],
      properties: {
        fields: jsonPointers,
        window: duration,
        mode: { enum: ['shadow', 'approve'], description: 'Whether it is only noted, or a person has to agree.' },
      },
    },
    whenTainted: {
      enum: ['allow', 'require_approval', 'deny'],
      description: 'What becomes of a call once its run has read text from outside; allow when left out.',
    },
    approval: {
      type: 'object',
      title: 'who must agree',
      additionalProperties: false,
      required: ['required'],
      properties: {
        required: { type: 'boolean', title: 'true or false' },
        quorum: {
          ...{ type: 'integer', minimum: 1, maximum: 10, title: 'a whole number from 1 to 10' },
          description: 'Different people that have to agree; 1 when left out.',
        },
        ttl: { ...duration, description: 'How long it can be given; 1h when left out.' },
        view: { ...text, description: 'What approvers read, with {{field}}; name and arguments when left out.' },
        preview: previewSchema,
        impact: { ...text, description: 'What it touches, in a sentence with {{field}}.' },
        undo: { ...text, description: 'How it can be undone, for people.' },
        roles: {
          ...{ type: 'array', minItems: 1, uniqueItems: true, items: { enum: [...approvalRoles] } },
          title: `a list of ${approvalRoles.join(' and ')} without repetition`,
          description: 'One of them is needed beside the role approver.',
        },
        groups: {
          ...{ type: 'array', minItems: 1, uniqueItems: true },
          items: { type: 'string', pattern: groupPattern.source, title: 'a lower-case word' },
          title: 'a list of groups without repetition',
          description: 'Whoever approves is in one of them; any operator with the role when left out.',
        },
        selfApproval: {
          type: 'boolean',
          title: 'true or false',
          description: 'Whether the user of the run may approve.',
        },
        redact: {
          ...jsonPointers,
          description: 'Arguments whose values nobody is shown; `*` for each item of a list.',
        },
        remember: { enum: ['run', 'tenant'], description: 'Where a refusal is remembered; run when left out.' },
      },
    },
    limits: {
      type: 'object',
      title: 'limits of a call',
      additionalProperties: false,
      properties: {
        connect: { ...duration, description: 'For reaching the upstream; 2s when left out.' },
        call: { ...duration, description: 'From the first byte sent to the last received; 10s when left out.' },
        notice: { ...duration, description: 'After this long the caller is told that it is still being worked on.' },
        concurrency: { ...atLeastOne, description: 'Attempts open at once in one dispatcher; 32 when left out.' },
        ratePerTenant: {
          ...{ type: 'string', pattern: ratePattern, title: 'a rate such as 10/s' },
          description: 'Calls of one tenant, as <n>/<s|m|h|d>; any number when left out.',
        },
        cost: { ...text, description: 'CEL over args: what a call costs; nothing when left out.' },
      },
    },
    retry: {
      type: 'object',
      title: 'how often to try',
      additionalProperties: false,
      properties: {
        attempts: { ...atLeastOne, maximum: 100, title: 'a whole number from 1 to 100' },
        backoff: { ...duration, description: 'First delay, doubled each time; 500ms when left out.' },
      },
    },
    result: {
      type: 'object',
      title: 'how results are shown',
      additionalProperties: false,
      properties: {
        maxBytes: {
          ...{ type: 'integer', minimum: 256, maximum: mostShownBytes },
          title: `a whole number from 256 to ${mostShownBytes}`,
          description: `Bytes of JSON that are shown at once; ${shownBytes} when left out. A handle reads what is larger.`,
        },
        redact: {
          ...jsonPointers,
          description: 'Places in the answer whose texts nobody reads, not even the log; `*` for each item of a list.',
        },
        patterns: {
          ...{ type: 'array', uniqueItems: true, items: { enum: [...redactionPatterns] } },
          title: `a list of ${redactionPatterns.join(', ')} without repetition`,
          description: `What nobody reads wherever it is; ${defaultPatterns.join(' and ')} when left out.`,
        },
        trust: { enum: ['first_party', 'external'], description: 'Who wrote what it answers; external is fenced.' },
        list: resultListSchema,
      },
    },
    upstream: upstreamSchema,
  },
  $defs: {
    duration: { type: 'string', pattern: durationPattern, title: 'a duration such as 2s, 500ms, 5m or PT24H' },
    declared: {
      type: ['string', 'object'],
      title: 'a duration such as PT24H, or { value: PT24H, basis: measured | documented | assumed }',
      description: 'How long, and how it is known. A duration alone counts as documented.',
      pattern: durationPattern,
      additionalProperties: false,
      required: ['value', 'basis'],
      properties: {
        value: { $ref: '#/$defs/duration' },
        basis: { enum: ['measured', 'documented', 'assumed'] },
      },
    },
  },
};
