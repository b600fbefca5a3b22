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

/** The attributes that all of them have. */
export const cloudEvent = object(
  {
    specversion: { type: 'string', enum: ['1.0'] },
    id: text('Every delivery of this event has the same one.', '01JD8Q4Y6V2N7XK3T5W9ZB1CEF-4'),
    source: { type: 'string', format: 'uri-reference', enum: ['intendant'] },
    type: text('`intendant.intent.` and the last word of the subject.'),
    subject: text('Id of the intent.'),
    time: { type: 'string', format: 'date-time' },
    datacontenttype: { type: 'string', enum: ['application/json'] },
    tenant: text('Tenant of the intent.'),
  },
  { description: 'CloudEvents 1.0, structured mode.' },
  {
    traceparent: text('W3C trace context of the submit; there only where it had one.'),
    sandbox: { type: 'boolean', enum: [true], description: 'There for sandbox calls only: nothing real happened.' },
  },
);

const version: Schema = { type: 'integer', minimum: 1, description: 'Counts what happened to this intent.' };

/** The event as a CloudEvent: its type, and how the intent stands right after it. */
export function eventPayload(name: PublicEventName): Schema {
  const after = object({ version, status: { type: 'string', enum: statesAfter(name) } });
  const parts: Schema[] = [{ $ref: '#/components/schemas/IntentResult' }, after];
  const data: Schema = { allOf: name === 'progress' ? [...parts, progress] : parts };
  const type: Schema = { type: 'string', enum: [`intendant.intent.${name}`] };
  return { allOf: [{ $ref: '#/components/schemas/CloudEvent' }, object({ type, data })] };
}

export function statesAfter(name: PublicEventName): StateName[] {
  if (name === 'progress') return ['dispatching'];
  const places: Readonly<Record<string, Partial<Record<string, StateName>>>> = transitions;
  return [...new Set(Object.values(places).flatMap(({ [name]: next }) => next ?? []))];
}
