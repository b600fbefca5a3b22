import { tenantPattern, toolNamePattern } from '@intendant/contracts';
import type { JsonObject } from '@intendant/intent';
import { durationPattern, ratePattern } from '@intendant/tools';

const text = { type: 'string', minLength: 1, title: 'text' };
const expression = { type: 'string', minLength: 1, title: 'a CEL expression' };
const wholeNumber = { type: 'integer', minimum: 0, maximum: 1_000_000_000, title: 'a whole number, 0 or more' };
const word = toolNamePattern.source.slice(1, -1);
const tools = {
  type: 'array',
  minItems: 1,
  uniqueItems: true,
  title: 'a list of tools without repetition',
  items: {
    type: 'string',
    pattern: `^(?:${word}|[a-z][a-z0-9_]*(?:\\.[a-z][a-z0-9_]*)*\\.\\*)$`,
    title: 'the name of a tool, or a namespace such as payments.*',
  },
  description: 'Names, or namespaces ending in .*; all tools when left out.',
};

/**
 * JSON Schema 2020-12 of a policy file, for editors and for the loader. Every `title` is a noun phrase: it completes
 * "must be …" in the loader's messages.
 */
export const policyFileSchema: JsonObject = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'a policy file',
  type: 'object',
  additionalProperties: false,
  required: ['apiVersion'],
  properties: {
    apiVersion: { enum: ['intendant/policy/v1'] },
    tenant: {
      type: 'string',
      pattern: tenantPattern.source,
      title: 'the name of a tenant',
      description: 'Whom it is for; the whole deployment when left out.',
    },
    default: {
      enum: ['allow', 'deny'],
      description: 'What no rule matches; only in the file of the whole deployment.',
    },
    serviceKeys: {
      type: 'object',
      title: 'what service keys may give, by their names',
      propertyNames: { pattern: '^[A-Za-z0-9._-]+$', title: 'the name of a service key' },
      additionalProperties: { $ref: '#/$defs/serviceKey' },
    },
    rates: {
      type: 'object',
      title: 'rates of calls',
      additionalProperties: false,
      properties: { perTenant: { type: 'string', pattern: ratePattern, title: 'a rate such as 50/s' } },
    },
    rules: { type: 'array', title: 'a list of rules', items: { $ref: '#/$defs/rule' } },
  },
  $defs: {
    serviceKey: {
      type: 'object',
      title: 'ceilings, permissions and restrictions',
      additionalProperties: false,
      properties: {
        ceilings: {
          type: 'object',
          title: 'the most that a run may be given',
          additionalProperties: false,
          properties: {
            calls: wholeNumber,
            wallClock: { type: 'string', pattern: durationPattern, title: 'a duration such as 2h' },
            mutating: wholeNumber,
            destructive: wholeNumber,
            cost: { type: 'number', minimum: 0, maximum: 9_000_000_000, title: 'a number from 0 to 9000000000' },
          },
        },
        permissions: {
          type: 'array',
          uniqueItems: true,
          title: 'a list of permissions without repetition',
          items: {
            type: 'string',
            pattern: '^(?:[A-Za-z0-9][A-Za-z0-9:._-]{0,127})?\\*?$',
            minLength: 1,
            title: 'a permission such as payments:refund or payments:*',
          },
        },
        restrict: { type: 'array', title: 'a list of restrictions', items: { $ref: '#/$defs/restriction' } },
      },
    },
    restriction: {
      type: 'object',
      title: 'a restriction',
      additionalProperties: false,
      required: ['allow', 'message'],
      properties: { tools, allow: expression, message: text },
    },
    rule: {
      type: 'object',
      title: 'a rule',
      additionalProperties: false,
      required: ['name', 'then'],
      properties: {
        name: {
          type: 'string',
          pattern: '^[a-z0-9][a-z0-9-]{0,63}$',
          title: 'lower-case words joined by dashes, 64 characters at most',
        },
        tools,
        when: { ...expression, description: 'CEL; always when left out.' },
        then: { enum: ['deny', 'require_approval', 'allow'] },
        message: { ...text, description: 'For the agent.' },
      },
    },
  },
};
