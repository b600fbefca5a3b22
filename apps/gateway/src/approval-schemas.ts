import { anything, cursor, list, object, optionalText, refTo, type Schema, text } from './openapi-schemas.js';
import { states } from './queries.js';

const time: Schema = { type: 'string', format: 'date-time' };
const count = (description: string): Schema => ({ type: 'integer', description });
const optionalNumber: Schema = { type: ['number', 'null'] };

const common = {
  id: text('Id of the intent.'),
  tenant: text('Its tenant.'),
  tool: text('Name of the tool.'),
  effect: { type: 'string', enum: ['read', 'write', 'destructive'] },
  sandbox: { type: 'boolean' },
  requester: text('The user whom the run acts for.'),
  view: text('The action in words, with its real values.'),
  digest: text('Stands for everything that is asked; to be sent back with the decision.'),
  quorum: count('Different people that have to agree.'),
  requestedAt: time,
  expiresAt: { ...time, description: 'From then on silence is a no.' },
} as const satisfies Record<string, Schema>;

export const approvalPage = object({
  items: list(object({ ...common, given: count('How many have agreed to it as it is now.') })),
  nextCursor: cursor,
});

const demand = object({ rule: text('The rule that asks.'), message: text('Why.') });

export const approvalSchema = object({
  ...common,
  status: { type: 'string', enum: states },
  runId: text('Id of its run.'),
  stepId: optionalText('Step of the agent runtime.'),
  toolVersion: { type: 'integer' },
  why: list(demand),
  differs: { ...list(text('What.')), description: 'What was different when it was to be sent.' },
  args: { ...anything, description: 'What the agent has proposed, without what nobody is shown.' },
  injected: { ...anything, description: 'What the runtime adds.' },
  impact: optionalText('What it touches.'),
  reversible: { type: ['boolean', 'null'], description: 'Whether it can be undone; null: nobody has said.' },
  undo: optionalText('How it can be undone.'),
  preview: {
    oneOf: [
      object({ kind: { type: 'string', enum: ['asked'] } }),
      object({
        kind: { type: 'string', enum: ['failed'] },
        detail: text('Why there is none.'),
        needed: { type: 'boolean', description: 'Nobody can agree without; it is asked for again.' },
      }),
      object({
        kind: { type: 'string', enum: ['shown'] },
        before: { description: 'What is there.' },
        after: { description: 'What would be there.' },
        token: { type: ['string', 'number', 'null'], description: 'Changes with what is there.' },
        kept: { type: 'string', enum: ['by_upstream', 'read_again', 'not_kept'] },
      }),
      { type: 'null' },
    ],
  },
  given: list(object({ by: text('Who.'), at: time })),
  earlier: {
    ...list(object({ by: text('Who.'), at: time })),
    description: 'Who has agreed to it as it was before; that stands for what it was, and for nothing else.',
  },
  roles: list(text('Role, one of which an approver needs.')),
  groups: list(text('Group, one of which an approver is in.')),
  cost: { type: 'number', description: 'Units.' },
  taintedBy: optionalText('Intent by which the run had read text from outside.'),
  alike: {
    oneOf: [
      object({ id: text('An earlier intent.'), status: { type: 'string' }, recordedAt: time, args: anything }),
      { type: 'null' },
    ],
  },
  run: {
    oneOf: [
      object({
        profile: { type: 'string' },
        phase: optionalText('Phase that it is in.'),
        openedBy: text('Service key.'),
        openedAt: time,
        expiresAt: time,
        closed: { type: 'boolean', description: 'What waits is sent all the same once it is agreed to.' },
        left: object({
          calls: optionalNumber,
          mutating: optionalNumber,
          destructive: optionalNumber,
          cost: optionalNumber,
        }),
        history: list(
          object({
            intentId: text('Id.'),
            tool: text('Tool.'),
            status: { type: 'string', enum: states },
            reason: optionalText('Why it is where it is.'),
            recordedAt: time,
          }),
        ),
      }),
      { type: 'null' },
    ],
  },
  actions: list(object({ action: text('What.'), possible: { type: 'boolean' }, reason: optionalText('Why not.') })),
});

export const batchResults = object({
  results: list({
    oneOf: [
      object({ id: common.id, result: refTo('IntentResult') }),
      object({ id: common.id, error: refTo('ErrorObject') }),
    ],
  }),
});
