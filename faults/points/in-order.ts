import type { Cell } from './cells.js';

/**
 * The order in which cells strike: the roles in turn, each over the whole length, so that a victim that is stopped for a
 * while keeps nobody waiting.
 */
export function inOrder(cells: readonly Cell[]): Cell[] {
  const ofRole = new Map<string, number>();
  for (const { role } of cells) ofRole.set(role, (ofRole.get(role) ?? 0) + 1);
  const seen = new Map<string, number>();
  const placed = cells.map((cell) => {
    const at = seen.get(cell.role) ?? 0;
    seen.set(cell.role, at + 1);
    return { cell, place: (at + 0.5) / (ofRole.get(cell.role) ?? 1) };
  });
  return placed.sort((a, b) => a.place - b.place).map(({ cell }) => cell);
}
