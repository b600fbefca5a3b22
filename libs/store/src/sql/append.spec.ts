import { expect, test } from 'vitest';
import { appendValues } from '../append-values.js';
import { everything, onlyMoves, withoutLimits } from './append.js';
import { withValues } from './named.js';

const values = appendValues({ changes: new Map(), starts: [], granted: [], log: [], messages: [], now: 1, book: null });

test('the statement for everything has a use for each value', () => {
  expect([...everything.parameters].sort()).toEqual(Object.keys(values).sort());
});

test.each([everything, withoutLimits, onlyMoves])('each parameter of $name has a value', (statement) => {
  expect(withValues(statement, values).values).not.toContain(undefined);
  expect(Math.max(...[...statement.text.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number)))).toBe(
    statement.parameters.length,
  );
});
