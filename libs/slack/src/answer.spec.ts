import { expect, test } from 'vitest';
import { answerBody, mayAnswerAt, readAnswer } from './answer.js';

const slack = new URL('https://slack.com/api/');

test.each([
  ['https://hooks.slack.com/actions/T1/2/x', slack, true],
  ['https://hooks.slack.com.evil.example/actions', slack, false],
  ['https://hooks.slack.com@evil.example/actions', slack, false],
  ['http://hooks.slack.com/actions', slack, false],
  ['https://slack.com/api/chat.postMessage', slack, false],
  ['http://169.254.169.254/', slack, false],
  ['nothing', slack, false],
  ['http://127.0.0.1:8/x', new URL('http://127.0.0.1:8/api/'), true],
  ['http://127.0.0.1:9/x', new URL('http://127.0.0.1:8/api/'), false],
])('answers at %s where Slack is %s: %s', (url, apiUrl, may) => {
  expect(mayAnswerAt(url, apiUrl)).toBe(may);
});

test('an answer is seen by whoever clicked, in plain text, and leaves the message as it is', () => {
  expect(answerBody({ responseUrl: 'x', text: 'Done *now* <!here>' })).toEqual({
    response_type: 'ephemeral',
    replace_original: false,
    text: 'Intendant has answered.',
    blocks: [{ type: 'section', text: { type: 'plain_text', text: 'Done *now* <!here>', emoji: false } }],
  });
});

test('anything else on the bus is no answer', () => {
  const read = (text: string) => readAnswer(new TextEncoder().encode(text));
  expect(read('{"responseUrl":"a","text":"b"}')).toEqual({ responseUrl: 'a', text: 'b' });
  for (const text of ['', '{', 'null', '[]', '{"responseUrl":1,"text":"b"}', '{"text":"b"}'])
    expect(read(text)).toBeNull();
});
