import type { PublicEventName } from '@intendant/contracts';
import { type StateName, transitions } from '@intendant/intent';
import { object, type Schema, text } from '../openapi-schemas.js';

/** What each event tells. */
export const said: Readonly<Record<PublicEventName, string>> = {
  approval_requested: 'It waits for people.',
  denied: 'It was not allowed, refused by a person, or nobody agreed in time. Nothing was sent.',
  outcome_unknown: 'It may or may not have happened; this is being checked.',
  dead_lettered: 'It cannot go on by itself; an operator has to look.',
  committed: 'It happened.',
  failed: 'It did not happen, and nothing more will be sent.',
  cancelled: 'It was cancelled before it was sent.',
  expired: 'It was not sent in the time of its run, and will not be.',
  corrected: 'Evidence that came too late: `data.corrections` has it, `status` stays what it was.',
  progress: 'An attempt takes longer than the tool is expected to. Told once for an attempt, and may be lost.',
};

const progress = object({
  attempt: { type: 'integer', minimum: 1 },
  elapsedMs: { type: 'integer', minimum: 0, description: 'Since it was sent.' },
  message: text('For the model: what is known, and what not to do.'),
});

/** The event as a CloudEvent: its type, and how the intent stands right after it. */
export function eventPayload(name: PublicEventName): Schema {
  const status: Schema = { properties: { status: { type: 'string', enum: statesAfter(name) } } };
  return {
    allOf: [
      { $ref: '#/components/schemas/CloudEvent' },
      {
        properties: {
          type: { type: 'string', enum: [`intendant.intent.${name}`] },
          data: name === 'progress' ? { allOf: [status, progress] } : status,
        },
      },
    ],
  };
}

export function statesAfter(name: PublicEventName): StateName[] {
  if (name === 'progress') return ['dispatching'];
  const places: Readonly<Record<string, Partial<Record<string, StateName>>>> = transitions;
  return [...new Set(Object.values(places).flatMap(({ [name]: next }) => next ?? []))];
}
