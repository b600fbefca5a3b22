/** Columns of a table: heading and what stands in it for an item. */
export type Columns<T> = Readonly<Record<string, (item: T) => string | number | null>>;

const gap = '  ';

/** Lines of an aligned table; a sentence where there is nothing to show. */
export function table<T>(items: readonly T[], columns: Columns<T>, empty: string): string[] {
  if (items.length === 0) return [empty];
  const rows = [
    Object.keys(columns),
    ...items.map((item) => Object.values(columns).map((cell) => printable(String(cell(item) ?? '-')))),
  ];
  const widths = Object.keys(columns).map((_, i) => Math.max(...rows.map((row) => row[i]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join(gap)
      .trimEnd(),
  );
}

/** What others wrote must not move the cursor or colour the terminal. */
export function printable(text: string): string {
  return text.replace(/\p{Cc}+/gu, ' ');
}
