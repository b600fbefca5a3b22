import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** A bug that is planted in a copy of the sources, to see that the rig finds it. */
export interface Mutant {
  /** The name of its file, without `.patch`. */
  readonly name: string;
  /** What the product does then, in a sentence. */
  readonly plants: string;
  /** What it has done to others, or would do. */
  readonly incident: string;
  /** Its unified diff, for `git apply`. */
  readonly file: string;
}

const ending = '.patch';

/** The bugs that others have shipped; what is there beside them, a reviewer thought of. */
export const shipped: readonly string[] = [
  'ack-before-commit',
  'key-per-attempt',
  'lease-by-local-clock',
  'lookup-timeout-is-absence',
  'mark-before-publish',
  'max-deliver-3-without-sweep',
  'message-id-is-intent-id',
  'naive-cursor',
  'no-settle-time',
  'resend-without-lookup',
  'reset-is-not-sent',
  'terminal-write-without-version',
];

/** All that there are, by name. `folder` holds a file per mutant; its head says what it plants, and which incident it is. */
export function readMutants(folder: string): Mutant[] {
  const files = readdirSync(folder).filter((file) => file.endsWith(ending));
  return files.sort().map((name) => {
    const file = path.join(folder, name);
    const [head = ''] = readFileSync(file, 'utf8').split(/^diff --git /m, 1);
    return {
      name: name.slice(0, -ending.length),
      plants: field(head, 'Plants', file),
      incident: field(head, 'Incident', file),
      file,
    };
  });
}

/** A field of the head begins a line; it goes on in lines that are indented. */
function field(head: string, name: string, file: string): string {
  const text = new RegExp(`^${name}: (.+(?:\n[ \t]+.+)*)`, 'm').exec(head)?.[1];
  if (text === undefined) throw new Error(`${file}: its head must have a line that begins with "${name}: "`);
  return text.replace(/\s+/g, ' ');
}
