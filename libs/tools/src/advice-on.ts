import type { ToolDefinition } from '@intendant/contracts';
import { distance } from 'fastest-levenshtein';
import { editsBetween, words } from './suggest.js';

type Described = Pick<ToolDefinition, 'name' | 'description'>;

const longestFirstLine = 100;
/** Of a description, what is compared with others. */
const comparedLength = 300;
/** Names are easily taken for each other that are at most so many edits apart, and one in so many of their letters. */
const nearEdits = 2;
const lettersAnEdit = 6;
/** Of the longer of two descriptions, the part that may differ in two that are hard to tell apart. */
const nearPart = 0.2;

const verbs = [
  ...[
    'add',
    'approve',
    'archive',
    'assign',
    'book',
    'call',
    'cancel',
    'capture',
    'charge',
    'check',
    'close',
    'convert',
  ],
  ...[
    'copy',
    'count',
    'create',
    'delete',
    'deploy',
    'disable',
    'download',
    'enable',
    'export',
    'find',
    'get',
    'import',
  ],
  ...[
    'invite',
    'link',
    'list',
    'merge',
    'move',
    'open',
    'pay',
    'place',
    'post',
    'preview',
    'publish',
    'read',
    'refund',
  ],
  ...['reject', 'release', 'remove', 'rename', 'replace', 'reserve', 'restart', 'restore', 'resume', 'run', 'schedule'],
  ...['search', 'send', 'set', 'share', 'start', 'stop', 'submit', 'transfer', 'update', 'upload', 'validate', 'write'],
];

const saysWhenNot = /\b(?:do not|don't|never|not for|not to|must not|instead)\b/iu;

/**
 * What would help a model to choose the right tool: sentences about name and description of each, by name; nothing of
 * it is a mistake.
 *
 * @param tools that a model may see together.
 */
export function adviceOn(tools: readonly Described[]): ReadonlyMap<string, readonly string[]> {
  const advice = new Map(tools.map((tool) => [tool.name, [...onName(tool), ...onDescription(tool)]]));
  tools.forEach((tool, n) => {
    for (const other of tools.slice(n + 1)) {
      const alike = likeness(tool, other);
      if (alike === null) continue;
      advice.get(tool.name)?.push(`${alike} ${other.name}: say in both what tells them apart, or make them one tool`);
      advice.get(other.name)?.push(`${alike} ${tool.name}: say in both what tells them apart, or make them one tool`);
    }
  });
  return advice;
}

function onName({ name }: Described): string[] {
  const last = name.split('.').at(-1) ?? '';
  const verb = last.split('_')[0] ?? '';
  if (verbs.includes(verb)) return [];
  return [`the name ends with ${last}, which is no verb known here; better ${name}.get, .list, .create, .update or so`];
}

function onDescription({ description }: Described): string[] {
  const first = description.trim().split('\n')[0] ?? '';
  const notes: string[] = [];
  if (first.length > longestFirstLine) {
    notes.push(
      `the first line of the description has ${first.length} characters; say in ${longestFirstLine} at most what comes of a call`,
    );
  }
  if (/^this (?:tool|function)\b/iu.test(first)) {
    notes.push('the description begins with "This tool"; begin with what comes of a call ("Refund a payment.")');
  }
  if (!saysWhenNot.test(description)) {
    notes.push('the description does not say when not to use the tool; add such a sentence ("Do not use it to …")');
  }
  return notes;
}

function likeness(a: Described, b: Described): string | null {
  const [own, others] = [words(a.name), words(b.name)];
  const letters = Math.min(own.join('').length, others.join('').length);
  const near = Math.min(nearEdits, Math.floor(letters / lettersAnEdit));
  if (editsBetween(own, others) <= near) return 'the name is almost that of';
  const [one, two] = [plain(a.description), plain(b.description)];
  const most = Math.max(one.length, two.length) * nearPart;
  if (Math.abs(one.length - two.length) > most || distance(one, two) > most) return null;
  return 'the description is almost that of';
}

function plain(description: string): string {
  return words(description).join(' ').slice(0, comparedLength);
}
