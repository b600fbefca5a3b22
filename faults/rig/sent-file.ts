import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { SentEntry } from '../history/sent.js';

/** Where the services of an installation write down what they send (preload.mjs). */
export function sentFileIn(dir: string): string {
  return path.join(dir, 'sent.jsonl');
}

export async function readSent(dir: string): Promise<SentEntry[]> {
  const file = sentFileIn(dir);
  if (!existsSync(file)) return [];
  // A process that was killed may have left half a line, and another one written on behind it.
  const whole = (await readFile(file, 'utf8')).match(/\{[^{}]*\}/g) ?? [];
  return whole.map((line) => JSON.parse(line) as SentEntry);
}
