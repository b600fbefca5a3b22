import { Refusal } from '@intendant/contracts';
import { describe, expect, test } from 'vitest';
import { readInteraction } from './interaction.js';
import { asForm, recordedClick } from './recorded.spec-helper.js';

const id = '01JD8Q4Y6V2N7XK3T5W9ZB1CEF';
const value = JSON.stringify({ id, digest: 'd+/=1' });
const button = { action_id: 'approve', value };

describe('a click', () => {
  test.each(['approve', 'refuse'])('on %s is read from the payload that Slack documents', (action) => {
    expect(readInteraction(asForm(recordedClick({ action_id: action, value })))).toEqual({
      userId: 'U0CA5',
      action,
      id,
      digest: 'd+/=1',
      responseUrl: 'https://www.postresponsestome.com/T123567/1509734234',
    });
  });

  test('is read with what newer payloads have beside it', () => {
    const more = { enterprise: null, is_enterprise_install: false, state: { values: {} }, channel: { id: 'C1' } };
    expect(readInteraction(asForm(recordedClick({ ...button, style: 'primary' }, more))).id).toBe(id);
  });

  const [recorded] = recordedClick(button).actions;
  test.each<[string, Buffer]>([
    ['payload has to be JSON in a string', Buffer.from('')],
    ['payload has to be JSON in a string', Buffer.from('payload=%7B')],
    ['payload has to be an object', asForm([])],
    ['payload.type has to be block_actions', asForm(recordedClick(button, { type: 'view_submission' }))],
    ['payload.type has to be block_actions', asForm({ type: 'url_verification', challenge: 'x' })],
    ['payload.actions has to be a list with one action', asForm(recordedClick(button, { actions: undefined }))],
    ['payload.actions has to be a list with one action', asForm(recordedClick(button, { actions: [] }))],
    [
      'payload.actions has to be a list with one action',
      asForm(recordedClick(button, { actions: [recorded, recorded] })),
    ],
    ['payload.actions[0] has to be an object', asForm(recordedClick(button, { actions: ['approve'] }))],
    ['payload.actions[0].action_id has to be approve or refuse', asForm(recordedClick({ action_id: 'jiqxy', value }))],
    [
      'payload.actions[0].value has to be JSON in a string',
      asForm(recordedClick({ ...button, value: 'click_me_123' })),
    ],
    ['payload.actions[0].value has to be JSON in a string', asForm(recordedClick({ ...button, value: { id } }))],
    ['payload.actions[0].value has to be an object', asForm(recordedClick({ ...button, value: 'null' }))],
    ['payload.actions[0].value.id has to be', asForm(recordedClick({ ...button, value: '{"id":"1","digest":"d"}' }))],
    ['payload.actions[0].value.digest has to be', asForm(recordedClick({ ...button, value: JSON.stringify({ id }) }))],
    ['payload.user has to be an object', asForm(recordedClick(button, { user: undefined }))],
    ['payload.user.id has to be', asForm(recordedClick(button, { user: { id: 'amy' } }))],
    ['payload.response_url has to be', asForm(recordedClick(button, { response_url: 'javascript:1' }))],
  ])('is nothing that says: %s', (message, body) => {
    expect(() => readInteraction(body)).toThrow(Refusal);
    expect(() => readInteraction(body)).toThrow(message);
  });
});
