import { closeSync, existsSync, openSync, readFileSync, truncateSync, writeSync } from 'node:fs';

/**
 * JSON lines on disk, append-only. Each line is handed to the kernel before `append` returns, so killing this
 * process loses nothing.
 */
export class LedgerFile {
  readonly #descriptor: number;
  /** The lines found at the start, oldest first. */
  readonly found: readonly string[];

  constructor(path: string) {
    const text = existsSync(path) ? readFileSync(path, 'utf8') : '';
    const whole = text.slice(0, text.lastIndexOf('\n') + 1);
    // A line without its end was cut while it was written, so nothing was done on the strength of it.
    if (whole.length < text.length) truncateSync(path, Buffer.byteLength(whole));
    this.found = whole.split('\n').filter((line) => line !== '');
    this.#descriptor = openSync(path, 'a');
  }

  append(line: string): void {
    writeSync(this.#descriptor, `${line}\n`);
  }

  close(): void {
    closeSync(this.#descriptor);
  }
}
