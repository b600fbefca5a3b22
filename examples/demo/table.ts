export interface Column<Row> {
  readonly title: string;
  readonly value: (row: Row) => string | number;
}

/** Rows as text: numbers to the right, words to the left, a line under the titles and one above the last row. */
export function table<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string {
  const cells = rows.map((row) => columns.map(({ value }) => value(row)));
  const widths = columns.map(({ title }, i) =>
    Math.max(title.length, ...cells.map((each) => String(each[i] ?? '').length)),
  );
  const line = (values: readonly (string | number)[], numeric: readonly boolean[]) =>
    values
      .map((value, i) => {
        const width = widths[i] ?? 0;
        return numeric[i] ? String(value).padStart(width) : String(value).padEnd(width);
      })
      .join('  ')
      .trimEnd();
  const numeric = columns.map((_, i) => cells.some((each) => typeof each[i] === 'number'));
  const rule = widths.map((width) => '─'.repeat(width)).join('──');
  const body = cells.map((each) => line(each, numeric));
  const head = columns.map(({ title }) => title);
  return [line(head, numeric), rule, ...body.slice(0, -1), rule, ...body.slice(-1)].join('\n');
}
