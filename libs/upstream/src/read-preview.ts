import type { PreviewDefinition, StateToken, ToolDefinition } from '@intendant/contracts';
import type { Json, JsonObject } from '@intendant/intent';
import type { PreviewAnswer } from './adapter.js';
import { ResultRedactor } from './redact-result.js';
import { messageOf } from './short-text.js';
import { tokenMistake } from './state-token.js';
import { evaluateOn, type View, viewOf } from './view.js';

/** Most bytes of JSON that are shown, before and after each: people are to read it. */
const mostBytes = 16 * 1024;

/**
 * What an answer says about what is there and what will be; its expressions see the arguments as well. What people are
 * shown is made of the answer without what results do not show; the token, which goes back to the upstream, of all of it.
 */
export async function readPreview(
  tool: ToolDefinition,
  definition: PreviewDefinition,
  answer: View,
  args: JsonObject,
): Promise<PreviewAnswer> {
  const { before, after, token } = definition;
  const whole = withArguments(answer, args);
  const visible = withArguments(withoutHidden(answer, new ResultRedactor(tool)), args);
  const shown: { before: Json; after: Json } = { before: null, after: null };
  try {
    for (const [name, expression] of Object.entries({ before, after }) as ['before' | 'after', string | null][]) {
      if (expression === null) continue;
      const value = await evaluateOn(visible, expression);
      if (value === undefined) return previewFailed('preview_unreadable', `"${name}" selects nothing for this answer`);
      const mistake = unfit(value);
      if (mistake !== null) return previewFailed('preview_unreadable', `"${name}" ${mistake}`);
      shown[name] = value;
    }
    if (token === null) return { kind: 'shown', ...shown, token: null };
    const read = await evaluateOn(whole, token.read);
    const mistake = tokenMistake(read, token.apply);
    if (mistake !== null) return previewFailed('token_unusable', mistake);
    const unkept = unfit(read as StateToken);
    if (unkept !== null) return previewFailed('token_unusable', `"token" ${unkept}`);
    return { kind: 'shown', ...shown, token: read as StateToken };
  } catch (error) {
    return previewFailed('preview_unreadable', messageOf(error));
  }
}

function withArguments({ root, bindings }: View, args: JsonObject): View {
  return { root: { args, ...root }, bindings: { args, ...bindings } };
}

function withoutHidden({ bindings }: View, rules: ResultRedactor): View {
  const { data, ...facts } = bindings as Readonly<Record<string, Json>>;
  const told = Object.entries(facts).map(([name, fact]) => [
    name,
    typeof fact === 'string' ? rules.words(fact) : rules.data(fact),
  ]);
  return viewOf(rules.data(data ?? null), Object.fromEntries(told));
}

export function previewFailed(cause: string, detail: string): PreviewAnswer {
  return { kind: 'failed', cause, detail };
}

/** Why a value cannot be kept and shown, or null. */
function unfit(value: Json): string | null {
  const text = JSON.stringify(value);
  const bytes = Buffer.byteLength(text);
  if (bytes > mostBytes) return `has ${bytes} bytes of JSON; at most ${mostBytes} are shown`;
  return unkeepable.test(text) ? 'has text with NUL or half a surrogate pair, which cannot be kept' : null;
}

/** As JSON writes it, and not after a backslash that stands for itself. */
const unkeepable = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/i;
