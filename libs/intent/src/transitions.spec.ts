import { readFileSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { evolve, IllegalTransition } from './evolve.js';
import { admitted } from './given.spec-helper.js';
import { recorded, started } from './samples.spec-helper.js';
import { terminalStates } from './state.js';
import { nextState, type Place, transitions } from './transitions.js';

const document = new URL('../../../ARCHITECTURE.md', import.meta.url);
const [opening, closing] = ['<!-- state-diagram -->', '<!-- /state-diagram -->'];

/** The transition table as a Mermaid state diagram; steps between the same two states share one arrow. */
function diagram(): string {
  const arrows = Object.entries(transitions).flatMap(([place, steps]) => {
    const byTarget = new Map<string, string[]>();
    for (const [event, target] of Object.entries<string>(steps))
      byTarget.set(target, [...(byTarget.get(target) ?? []), event]);
    const from = place === 'none' ? '[*]' : place;
    return [...byTarget].map(([target, events]) => `  ${from} --> ${target}: ${events.join(', ')}`);
  });
  const ends = terminalStates.map((state) => `  ${state} --> [*]`);
  return ['```mermaid', 'stateDiagram-v2', ...arrows, ...ends, '```'].join('\n');
}

it('the diagram in ARCHITECTURE.md shows the transition table (UPDATE_DIAGRAM=1 writes it anew)', () => {
  const text = readFileSync(document, 'utf8');
  const [before, rest] = text.split(opening);
  const [block, after] = rest?.split(closing) ?? [];
  if (before === undefined || block === undefined || after === undefined) {
    throw new Error(`ARCHITECTURE.md has no block between ${opening} and ${closing}`);
  }
  if (process.env['UPDATE_DIAGRAM'] === '1') {
    writeFileSync(document, `${before}${opening}\n${diagram()}\n${closing}${after}`);
    return;
  }
  expect(block.trim()).toBe(diagram());
});

it('a terminal state has no way out', () => {
  for (const state of terminalStates) expect(Object.values(transitions[state]).every((to) => to === state)).toBe(true);
});

it('an attempt starts from "authorized" only', () => {
  const places = Object.keys(transitions) as Place[];
  expect(places.filter((place) => nextState(place, 'attempt_started') !== null)).toEqual(['authorized']);
});

it('a log that takes an illegal step is refused loudly', () => {
  const { intent } = admitted();
  expect(() => evolve(intent, recorded(), 1)).toThrow(IllegalTransition);
  expect(() => evolve(null, started(1, 10), 1)).toThrow('event attempt_started in state none');
});
