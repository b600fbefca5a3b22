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
  // A process that was killed may have left half a line.
  const lines = (await readFile(file, 'utf8')).split('\n').filter((line) => line.endsWith('}'));
  return lines.map((line) => JSON.parse(line) as SentEntry);
}
