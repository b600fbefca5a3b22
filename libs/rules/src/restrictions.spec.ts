import { expect, test } from 'vitest';
import { factsOf } from './facts.spec-helper.js';
import { policies } from './policy.spec-helper.js';
import { refusalBy, restrictionsOf } from './restrictions.js';

const restrict = [
  { tools: ['payments.refund.create'], allow: 'args.amount <= 200', message: 'At most 200.' },
  { tools: ['payments.*'], allow: "session.phase == 'resolve'", message: 'Only while resolving.' },
];
const set = policies({ serviceKeys: { 'support-bot': { restrict } } });
const resolving = { session: { phase: 'resolve' } };

test('restrictions hold for the tools that they name, in runs of the key that they are for', () => {
  const names = (key: string, tool: string) => restrictionsOf(set, key, 'acme', tool).map(({ name }) => name);
  expect(names('support-bot', 'payments.refund.create')).toEqual(['support-bot.restrict.0', 'support-bot.restrict.1']);
  expect(names('support-bot', 'payments.refund.find')).toEqual(['support-bot.restrict.1']);
  expect(names('support-bot', 'mail.message.send')).toEqual([]);
  expect(names('other-bot', 'payments.refund.create')).toEqual([]);
});

test('the first that is not true refuses', () => {
  const all = restrictionsOf(set, 'support-bot', 'acme', 'payments.refund.create');
  expect(refusalBy(all, factsOf({ ...resolving, args: { amount: 200 } }))).toBeNull();
  expect(refusalBy(all, factsOf({ args: { amount: 201 } }))).toEqual({
    ...{ restriction: 'support-bot.restrict.0', message: 'At most 200.', inputs: { 'args.amount': 201 }, error: null },
  });
  expect(refusalBy(all, factsOf({ args: { amount: 200 } }))).toMatchObject({ message: 'Only while resolving.' });
});

test('one that cannot be evaluated refuses, with the same words for the agent', () => {
  const all = restrictionsOf(set, 'support-bot', 'acme', 'payments.refund.create');
  expect(refusalBy(all, factsOf(resolving))).toMatchObject({
    message: 'At most 200.',
    error: 'field not found: amount',
  });
  const odd = policies({ serviceKeys: { bot: { restrict: [{ allow: 'args.amount', message: 'No.' }] } } });
  const [first] = restrictionsOf(odd, 'bot', 'acme', 'mail.message.send');
  expect(refusalBy(first ? [first] : [], factsOf({ args: { amount: 1 } }))).toMatchObject({
    error: 'is neither true nor false',
  });
});
