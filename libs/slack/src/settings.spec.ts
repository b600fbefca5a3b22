import { ConfigError } from '@intendant/runtime';
import { describe, expect, test } from 'vitest';
import { readSlackButtons, readSlackPosting } from './settings.js';

const secret = '8f742231b10e8888abcd99yyyzzz85a5';
const token = 'xoxb-17653672481-19874698323';
const whole = {
  botToken: token,
  signingSecret: secret,
  channels: { acme: 'C0123ABCD' },
  users: { U024BE7LH: 'olga' },
};
const post = (over: object = {}) => readSlackPosting(JSON.stringify({ ...whole, ...over }));
const click = (over: object = {}) => readSlackButtons(JSON.stringify({ ...whole, ...over }));

describe('the setting for Slack', () => {
  test('is nothing where it is not set', () => {
    expect([readSlackPosting(undefined), readSlackButtons(undefined)]).toEqual([null, null]);
  });

  test('gives each service its part', () => {
    expect(post()).toEqual({
      botToken: token,
      channels: new Map([['acme', 'C0123ABCD']]),
      apiUrl: new URL('https://slack.com/api/'),
    });
    expect(click()).toEqual({ signingSecret: secret, users: new Map([['U024BE7LH', 'olga']]) });
    expect(post({ apiUrl: 'http://127.0.0.1:8/api/' })?.apiUrl.href).toBe('http://127.0.0.1:8/api/');
  });

  test('lets each service do without the other part', () => {
    expect(post({ signingSecret: undefined, users: undefined })).not.toBeNull();
    expect(click({ botToken: undefined, channels: undefined })).not.toBeNull();
  });

  test.each([
    [() => post({ botToken: undefined }), 'INTENDANT_SLACK.botToken: is missing; must be the token of a bot'],
    [() => post({ botToken: 'xoxp-1' }), 'INTENDANT_SLACK.botToken: must be the token of a bot, xoxb-…'],
    [() => post({ channels: undefined }), 'INTENDANT_SLACK.channels: is missing; must be an object'],
    [() => post({ channels: { ACME: 'C1' } }), 'INTENDANT_SLACK.channels: "ACME" is wrong; must be ids of channels'],
    [() => post({ channels: { acme: '#general' } }), 'INTENDANT_SLACK.channels: "acme" is wrong'],
    [() => post({ apiUrl: 'ftp://a/' }), 'INTENDANT_SLACK.apiUrl: must be an http or https URL'],
    [() => post({ token }), 'INTENDANT_SLACK.token: is not known; must be one of botToken'],
    [() => click({ signingSecret: 'short' }), 'INTENDANT_SLACK.signingSecret: must be the signing secret'],
    [
      () => click({ users: { olga: 'U024BE7LH' } }),
      'INTENDANT_SLACK.users: "olga" is wrong; must be names of operators',
    ],
    [() => click({ users: [] }), 'INTENDANT_SLACK.users: must be an object'],
    [() => readSlackPosting('[]'), 'INTENDANT_SLACK must be a JSON object such as'],
    [() => readSlackPosting(`{"botToken": "${token}"`), 'INTENDANT_SLACK must be a JSON object such as'],
  ])('names the field that is wrong (%#), and no secret', (reading, message) => {
    expect(reading).toThrow(ConfigError);
    expect(reading).toThrow(message);
    expect(reading).not.toThrow(token);
    expect(reading).not.toThrow(secret);
  });
});
