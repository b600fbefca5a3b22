/** An expression that cannot be used. The message says what is wrong and what would be right, without the place. */
export class CelError extends Error {
  override readonly name = 'CelError';

  /** Line and column count from 1 within the expression; null where the mistake is in no single place. */
  constructor(
    message: string,
    readonly line: number | null = null,
    readonly column: number | null = null,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }

  /** The message with the place, if there is one. */
  get sentence(): string {
    return this.line === null ? this.message : `${this.message} (line ${this.line}, column ${this.column})`;
  }
}
