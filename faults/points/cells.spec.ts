import { type FaultPoint, faultPoints, parseFault } from '@intendant/runtime';
import { describe, expect, test } from 'vitest';
import { type Cell, cells, nameOf } from './cells.js';
import { inOrder } from './in-order.js';
import { points } from './layer.js';

describe('the matrix', () => {
  test.each(faultPoints)('comes to %s with every action', (point: FaultPoint) => {
    const actions = new Set(cells.filter((cell) => cell.point === point).map(({ action }) => action));
    expect([...actions].sort()).toEqual(['kill', 'pause', 'throw']);
  });

  test('names no point that is not there', () => {
    for (const { point, nth, action } of cells) expect(() => parseFault(`${point}:${nth}:${action}`)).not.toThrow();
  });

  test('tells its cells apart by name', () => {
    expect(new Set(cells.map(nameOf)).size).toBe(cells.length);
    expect(cells.map(nameOf)).toContain('dispatcher dispatcher.after_send kill executed');
    expect(cells.map(nameOf)).toContain('dispatcher door.before_append:2 pause not executed');
    expect(cells.map(nameOf)).toContain('outbox-relay relay.after_claim throw');
  });
});

describe('the order of cells', () => {
  test('has all of them, and spreads each role over the whole of it', () => {
    const order = inOrder(cells);
    expect(new Set(order)).toEqual(new Set(cells));
    for (const role of new Set(cells.map((cell) => cell.role))) {
      const [firstHalf, secondHalf] = [order.slice(0, order.length / 2), order.slice(order.length / 2)].map(
        (half) => half.filter((cell) => cell.role === role).length,
      ) as [number, number];
      expect(Math.abs(firstHalf - secondHalf), role).toBeLessThanOrEqual(1);
    }
  });
});

describe('the layer', () => {
  const namesOf = async (options: { seed: number; short: boolean }) =>
    (await points.cases({ rounds: 0, ...options })).map(({ name }) => name);

  test('tries all cells, and looks at what is left at the end', async () => {
    expect(await namesOf({ seed: 1, short: false })).toEqual([...inOrder(cells).map(nameOf), 'points at rest']);
  });

  test('tries eight in a short run, of every role, and others with another seed', async () => {
    const [one, other] = [await namesOf({ seed: 1, short: true }), await namesOf({ seed: 2, short: true })];
    expect(one).toHaveLength(9);
    expect(new Set(one.slice(0, -1).map((name) => name.split(' ')[0]))).toEqual(
      new Set(['gateway', 'policy', 'outbox-relay', 'dispatcher', 'reconciler']),
    );
    expect(other).not.toEqual(one);
    expect(await namesOf({ seed: 1, short: true })).toEqual(one);
  });

  test('finds a cell again by its name, and refuses what it did not write', () => {
    const name = nameOf(cells[7] as Cell);
    expect(points.again({ cell: name, seed: 3 }).name).toBe(name);
    expect(() => points.again({ cell: 'nowhere', seed: 3 })).toThrow(
      'a replay of L3 has a seed and the name of a cell',
    );
    expect(() => points.again({ plan: {} })).toThrow('a replay of L3 has a seed and the name of a cell');
  });
});
