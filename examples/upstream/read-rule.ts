import type { Rule } from './behaviour.js';
import { isObject } from './json.js';

type Check = (value: unknown) => boolean;

const THEN =
  /^(ok|hang|close|close_delimited|reset|reset_after_status|truncated|cut|garbage|redirect|redirect_same|empty200|accepted|status:[2-5]\d\d)$/;
const LOOKUP = /^(error|hang|anything|(error|hang|lag):\d+)$/;

const text: Check = (value) => typeof value === 'string';
const flag: Check = (value) => typeof value === 'boolean';
const natural: Check = (value) => Number.isInteger(value) && Number(value) >= 0;
const like =
  (pattern: RegExp): Check =>
  (value) =>
    typeof value === 'string' && pattern.test(value);

const MATCH: Record<string, Check> = { path: text, key: text, bodyContains: text };
const BEHAVIOUR: Record<string, Check> = {
  commit: flag,
  then: like(THEN),
  delayMs: natural,
  commitAfterMs: natural,
  headers: (value) => isObject(value) && Object.values(value).every(text),
  lookup: like(LOOKUP),
  honourKey: flag,
  inProgress: natural,
  keepAnswer: flag,
  forgetKeyAfterMs: natural,
  constantReceipt: flag,
  parts: (value) => isObject(value) && natural(value['done']) && natural(value['of']),
  operation: (value) =>
    isObject(value) && natural(value['afterMs']) && ['done', 'failed'].includes(String(value['end'])),
};
const RULE: Record<string, Check> = {
  match: isObject,
  times: (value) => value === 'always' || natural(value),
  behaviour: isObject,
};

function check(value: unknown, fields: Record<string, Check>, where: string): void {
  if (!isObject(value)) throw new TypeError(`${where} must be an object`);
  for (const [name, content] of Object.entries(value)) {
    const valid = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (valid === undefined) {
      throw new TypeError(`${where} has an unknown field ${name}; known: ${Object.keys(fields).join(', ')}`);
    }
    if (!valid(content)) throw new TypeError(`${where}.${name} cannot be ${JSON.stringify(content)}`);
  }
}

/** A rule from outside; a mistake in it throws a TypeError, since a rule that never applies proves nothing. */
export function readRule(value: unknown): Rule {
  check(value, RULE, 'rule');
  const rule = value as Rule;
  check(rule.match, MATCH, 'match');
  check(rule.behaviour, BEHAVIOUR, 'behaviour');
  return rule;
}
