import {
  hiddenBelow,
  hiddenPlaces,
  isHidden,
  type Places,
  redactedMark,
  type ToolDefinition,
  viewParts,
} from '@intendant/contracts';
import type { Json, JsonObject } from '@intendant/intent';
import { cut, longest, plainOrQuoted, quoted, shortened } from './shown-text.js';

/** Of all arguments together, whose names may be the caller's to choose; in code points. */
const longestLine = 10_000;

type Viewed = Pick<ToolDefinition, 'name' | 'approval'>;

/**
 * The action in words, as the tool file puts it, or its name and arguments on one line. Whoever chose the values cannot
 * make them look like other text: what is not one plain word stands in quotes, and what cannot be seen is spelt out.
 *
 * @param values arguments and injected fields, with their real values; what nobody is shown is hidden here.
 */
export function renderView({ name, approval }: Viewed, values: JsonObject): string {
  if (approval.view !== null) return filled(approval.view, values, approval.redact);
  const hidden = hiddenPlaces(approval.redact);
  const pairs = Object.keys(values)
    .sort()
    .map((field) => `${plainOrQuoted(field)}: ${shown(values[field] ?? null, hiddenBelow(hidden, field))}`);
  return cut([name, pairs.join(', ')].filter((part) => part !== '').join(' '), longestLine);
}

/** What the call touches, with the real values, as in {@link renderView}; null where the tool file does not say. */
export function renderImpact({ approval }: Pick<Viewed, 'approval'>, values: JsonObject): string | null {
  return approval.impact === null ? null : filled(approval.impact, values, approval.redact);
}

function filled(template: string, values: JsonObject, pointers: readonly string[]): string {
  const hidden = hiddenPlaces(pointers);
  // Checked when the tool file was loaded.
  const parts = viewParts(template) ?? [{ text: template }];
  return parts
    .map((part) => {
      if ('text' in part) return part.text;
      const given = Object.hasOwn(values, part.field);
      return given ? shown(values[part.field] ?? null, hiddenBelow(hidden, part.field)) : '(not given)';
    })
    .join('');
}

/** A value by itself. No two have the same text. */
function shown(value: Json, hidden: Places): string {
  if (isHidden(hidden)) return redactedMark;
  if (typeof value === 'string') return shortened(value);
  return cut(compact(value, hidden), longest);
}

/** Canonical JSON in which strings are escaped for the eye. */
function compact(value: Json, hidden: Places): string {
  if (isHidden(hidden)) return redactedMark;
  if (typeof value === 'string') return quoted(value);
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  if (isList(value)) return `[${value.map((item, at) => compact(item, hiddenBelow(hidden, `${at}`, true))).join(',')}]`;
  const members = Object.keys(value)
    .sort()
    .map((name) => `${quoted(name)}:${compact(value[name] ?? null, hiddenBelow(hidden, name))}`);
  return `{${members.join(',')}}`;
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}
