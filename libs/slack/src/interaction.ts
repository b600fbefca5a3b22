import { intentIdPattern, Refusal } from '@intendant/contracts';

/** A click on a button of an approval. Who it was is what Slack says; what that person may do is decided elsewhere. */
export interface Interaction {
  /** Of Slack, such as `U024BE7LH`. */
  readonly userId: string;
  readonly action: 'approve' | 'refuse';
  readonly id: string;
  /** Of what the person has seen. */
  readonly digest: string;
  /** Where an answer goes that only this person sees; good for half an hour. */
  readonly responseUrl: string;
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * Reads the body of a request to the interactivity URL: a form with the JSON in `payload`
 * (https://docs.slack.dev/reference/interaction-payloads/block_actions-payload).
 *
 * @throws Refusal `invalid_message` with what is wrong
 */
export function readInteraction(rawBody: Buffer): Interaction {
  const payload = fieldsOf(json(new URLSearchParams(rawBody.toString('utf8')).get('payload'), 'payload'), 'payload');
  if (payload['type'] !== 'block_actions') throw wrong('payload.type', 'block_actions');
  const { actions } = payload;
  if (!Array.isArray(actions) || actions.length !== 1) throw wrong('payload.actions', 'a list with one action');
  const { action_id: action, value } = fieldsOf(actions[0], 'payload.actions[0]');
  if (action !== 'approve' && action !== 'refuse') throw wrong('payload.actions[0].action_id', 'approve or refuse');
  const { id, digest } = fieldsOf(json(value, 'payload.actions[0].value'), 'payload.actions[0].value');
  return {
    userId: text(fieldsOf(payload['user'], 'payload.user')['id'], 'payload.user.id', /^[A-Z0-9]{2,32}$/),
    action,
    id: text(id, 'payload.actions[0].value.id', intentIdPattern),
    digest: text(digest, 'payload.actions[0].value.digest', /^[\x21-\x7e]{1,200}$/),
    responseUrl: text(payload['response_url'], 'payload.response_url', /^https?:\/\/\S{1,500}$/),
  };
}

function json(value: unknown, place: string): unknown {
  if (typeof value !== 'string') throw wrong(place, 'JSON in a string');
  try {
    return JSON.parse(value);
  } catch {
    throw wrong(place, 'JSON in a string');
  }
}

function fieldsOf(value: unknown, place: string): Fields {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields;
  throw wrong(place, 'an object');
}

function text(value: unknown, place: string, shape: RegExp): string {
  if (typeof value === 'string' && shape.test(value)) return value;
  throw wrong(place, `text like ${shape.source}`);
}

function wrong(place: string, right: string): Refusal {
  return new Refusal('invalid_message', `This is no click on an approval of ours: ${place} has to be ${right}.`);
}
