import { anything, cursor, list, object, optionalText, type Schema, text } from './openapi-schemas.js';

const time: Schema = { type: 'string', format: 'date-time' };
const decision = object({
  intentId: text('Id of the intent.'),
  at: time,
  tenant: text('Its tenant.'),
  runId: text('Id of its run.'),
  user: text('On whose behalf.'),
  phase: optionalText('Of the run, when it was decided.'),
  sandbox: { type: 'boolean', description: 'True: a call of the sandbox.' },
  tool: text('Name of the tool.'),
  toolVersion: { type: 'integer' },
  effect: { type: 'string', enum: ['read', 'write', 'destructive'] },
  args: {
    type: ['object', 'null'],
    additionalProperties: true,
    description: 'Without the fields that are never believed; null where they are over 16 KiB.',
  },
  costMicros: { type: 'integer', description: 'Of the call, in millionths of a unit.' },
  taintedBy: optionalText('Id of the intent by which the run had read text from outside; null: it had not.'),
  decision: { type: 'string', enum: ['allow', 'deny', 'require_approval'] },
  demandedBy: list(text('A rule that demanded the approval of a person.')),
  code: optionalText('Of the denial.'),
  wouldAllow: optionalText('What would have allowed it.'),
  reasons: {
    description: 'Null where it was decided before there were policy files.',
    oneOf: [
      object({
        policy: text('Version of the policy files.'),
        rule: optionalText('The rule that decided; null: none objected.'),
        inputs: anything,
      }),
      { type: 'null' },
    ],
  },
  run: {
    description: 'Null where nothing is known of it.',
    oneOf: [
      object({
        profile: { type: 'string', enum: ['interactive', 'batch'] },
        permissions: list(text('A permission.')),
        openedBy: text('Name of the service key.'),
        openedAt: time,
        restrictions: list(anything),
      }),
      { type: 'null' },
    ],
  },
  changes: {
    ...list(object({ at: time, type: text('What happened, in the past tense.') }, { additionalProperties: true })),
    description: 'Everything that has happened to it, with what says how it counts in its run.',
  },
});
export const decisionPage = object({
  since: { ...time, description: 'From when on they are. Pass it as `since` for the next page.' },
  items: list(decision),
  nextCursor: cursor,
});
