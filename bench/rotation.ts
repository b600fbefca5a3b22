/** The list, begun at another place each round, so that no system always has the quieter minute. */
export function rotated<T>(list: readonly T[], round: number): T[] {
  const turn = round % list.length;
  return [...list.slice(turn), ...list.slice(0, turn)];
}
