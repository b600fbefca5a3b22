import type { JsonObject } from '@intendant/intent';
import { argv, expression, headers, mcpArguments, mcpTool, path } from './upstream-schema.js';

/** The `approval.preview` part of a tool file: what a person sees of the world before they agree. */
export const previewSchema: JsonObject = {
  type: 'object',
  title: 'how the upstream is asked what the call would change',
  additionalProperties: false,
  required: ['after'],
  properties: {
    request: {
      type: 'object',
      title: 'a request that changes nothing',
      description: 'Left out for a module, whose function preview answers.',
      additionalProperties: false,
      properties: {
        method: { enum: ['GET', 'POST', 'PUT'], description: 'GET when left out.' },
        path: { ...path, description: 'As of a lookup.' },
        headers,
        body: { ...expression, description: 'JSONata over the arguments, such as `$args`; left out: no body.' },
        tool: mcpTool,
        arguments: mcpArguments,
        argv,
        readOnly: {
          ...{ type: 'boolean', title: 'true or false' },
          description: 'True: it changes nothing, although it is no GET.',
        },
      },
    },
    use: {
      enum: ['real', 'sandbox'],
      description: 'Who is asked: the real upstream (when left out), or upstream.sandbox.',
    },
    before: { ...expression, description: 'JSONata over the answer: what is there now; nothing when left out.' },
    after: { ...expression, description: 'JSONata over the answer and `$args`: what will be there.' },
    token: {
      ...expression,
      description: 'JSONata over the answer: text or a whole number that changes when what is there changes.',
    },
    apply: {
      type: ['string', 'object'],
      title: 'if_match, reread, { header: X-Version } or { field: /version }',
      description: 'How the token makes sure that what was approved is still there when the call is made.',
      pattern: '^(?:if_match|reread)$',
      additionalProperties: false,
      minProperties: 1,
      maxProperties: 1,
      properties: {
        header: { type: 'string', minLength: 1, title: 'the name of a header, such as X-Version' },
        field: {
          type: 'string',
          pattern: '^/[A-Za-z_][A-Za-z0-9_]*$',
          title: 'a JSON Pointer to a field at the top of the arguments, such as /version',
        },
      },
    },
    changed: {
      type: 'array',
      title: 'a list of different HTTP statuses, such as [412]',
      description: 'Statuses that say that the token is not the current one; [412] when left out.',
      minItems: 1,
      uniqueItems: true,
      items: { type: 'integer', minimum: 400, maximum: 499, title: 'an HTTP status from 400 to 499' },
    },
  },
};
