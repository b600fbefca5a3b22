import { parseDuration } from './duration.js';
import { kinds } from './read-upstream.js';
import type { Path, ToolSource } from './tool-source.js';

const positive: readonly Path[] = [
  ...[
    ['limits', 'connect'],
    ['limits', 'call'],
    ['limits', 'notice'],
    ['retry', 'backoff'],
  ],
  ...[
    ['upstream', 'keyRetention'],
    ['upstream', 'maxProcessing'],
  ],
  ...[
    ['upstream', 'lookup', 'spacing'],
    ['upstream', 'lookup', 'deadline'],
  ],
  ...[
    ['upstream', 'poll', 'interval'],
    ['upstream', 'poll', 'deadline'],
  ],
  ['approval', 'ttl'],
];

/** Checks that what the file says about the upstream fits together. */
export function checkGuarantee(source: ToolSource): void {
  const present = kinds.filter((kind) => source.value('upstream', kind) !== undefined);
  if (source.object('upstream') && present.length !== 1) {
    source.report(
      ['upstream'],
      `has ${present.join(' and ') || 'no kind'}; must have exactly one of ${kinds.join(', ')}`,
    );
  }
  for (const path of positive) {
    const text = source.text(...path) ?? source.text(...path, 'value') ?? '';
    if (parseDuration(text) === 0) source.report(path, 'is zero; must be longer');
  }
  const effect = source.text('effect');
  if (effect === 'write' || effect === 'destructive') checkRepetition(source, effect);
  const guarantee = source.text('upstream', 'guarantee') ?? 'none';
  checkRetention(source, guarantee);
  checkLookup(source, guarantee);
}

function checkRepetition(source: ToolSource, effect: string): void {
  const guarantee = source.text('upstream', 'guarantee');
  if (source.value('upstream', 'guarantee') === undefined) {
    const choices = 'idempotency_key, conditional_create, lookup or none';
    source.report(['upstream', 'guarantee'], `missing; a ${effect} tool must say ${choices}`);
  }
  if (guarantee !== null && guarantee !== 'none' && source.value('upstream', 'maxProcessing') === undefined) {
    const why = 'without it nobody knows when an absence means anything';
    source.report(['upstream', 'maxProcessing'], `missing; must be a duration such as 10s, ${why}`);
  }
}

function checkRetention(source: ToolSource, guarantee: string): void {
  const given = source.value('upstream', 'keyRetention') !== undefined;
  if (guarantee === 'idempotency_key' && !given) {
    source.report(
      ['upstream', 'keyRetention'],
      'missing; must be how long the upstream remembers a key, such as PT24H',
    );
  } else if (guarantee !== 'idempotency_key' && given) {
    source.report(
      ['upstream', 'keyRetention'],
      `means nothing for the guarantee ${guarantee}; remove it, or say idempotency_key`,
    );
  }
}

function checkLookup(source: ToolSource, guarantee: string): void {
  const lookup = source.value('upstream', 'lookup');
  if (guarantee === 'none' && lookup !== undefined) {
    source.report(['upstream', 'guarantee'], 'none together with a lookup; say lookup, or remove the lookup');
  }
  if (guarantee === 'lookup' && lookup === undefined) {
    source.report(['upstream', 'lookup'], 'missing; the guarantee lookup must have one');
  }
  if (guarantee === 'lookup' && source.value('upstream', 'lookup', 'authoritative') === false) {
    const right = 'must be true for the guarantee lookup, or say none and remove the lookup';
    source.report(['upstream', 'lookup', 'authoritative'], `an empty answer proves nothing; ${right}`);
  }
}
