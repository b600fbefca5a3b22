import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { fold } from './evolve.js';
import type { Recorded } from './given.spec-helper.js';
import { outcomeOf } from './state.js';
import { transitions } from './transitions.js';

/** Streams as a release wrote them. Never edit one: what is stored stays readable, whatever the code becomes. */
interface History {
  readonly name: string;
  readonly events: readonly Recorded[];
  readonly folded: {
    readonly state: string;
    readonly version: number;
    readonly outcome: string;
    readonly attempts: readonly string[];
  };
}

const folder = new URL('./histories/', import.meta.url);
const releases = readdirSync(folder).map((file) => {
  const histories: readonly History[] = JSON.parse(readFileSync(new URL(file, folder), 'utf8'));
  return { release: file.replace(/\.json$/, ''), histories };
});

describe.each(releases)('a log written by $release', ({ histories }) => {
  it.each(histories)('is still read: $name', ({ events, folded }) => {
    const intent = fold(events);
    expect(intent).not.toBeNull();
    if (!intent) return;
    const { state, version, attempts } = intent;
    expect({ state, version, outcome: outcomeOf(intent), attempts: attempts.map((a) => a.verdict) }).toEqual(folded);
  });
});

it('the recorded histories hold every type of event there is', () => {
  const known = new Set(Object.values(transitions).flatMap((steps) => Object.keys(steps)));
  const written = releases.flatMap(({ histories }) =>
    histories.flatMap((h) => h.events.map(({ event }) => event.type)),
  );
  expect([...new Set<string>(written)].sort()).toEqual([...known].sort());
});
