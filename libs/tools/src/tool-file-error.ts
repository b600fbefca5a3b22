/** One mistake in a tool file. */
export interface ToolFileProblem {
  readonly file: string;
  /** Counted from 1; 0 when the file could not be read at all. */
  readonly line: number;
  /** Path of the field, joined by dots; empty when the mistake is not in one field. */
  readonly field: string;
  /** What is wrong and what would be right. */
  readonly message: string;
}

/** Tool files that cannot be loaded; the message has one line per problem: `file:line field: what is wrong`. */
export class ToolFileError extends Error {
  override readonly name = 'ToolFileError';

  constructor(readonly problems: readonly ToolFileProblem[]) {
    super(
      problems.map(({ file, line, field, message }) => `${file}:${line}${field && ` ${field}`}: ${message}`).join('\n'),
    );
  }
}
