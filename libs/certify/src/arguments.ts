import type { SessionField, ToolDefinition } from '@intendant/contracts';
import type { Json, JsonObject } from '@intendant/intent';

/** Who the calls of a campaign are made for; fills the fields that the tool file injects. */
export interface Caller {
  readonly tenant: string;
  readonly user: string;
  readonly run: string;
}

const placeholder = /\{\{\s*n\s*\}\}/g;

/** Arguments of one effect: `{{n}}` in any text is its number, and injected fields are filled in as for a run. */
export function argumentsOf(tool: ToolDefinition, template: JsonObject, n: number, caller: Caller): JsonObject {
  const injected = Object.entries(tool.inject).map(([field, from]: [string, SessionField]) => [field, caller[from]]);
  return { ...(numbered(template, n) as JsonObject), ...Object.fromEntries(injected) };
}

/** The first example of the input schema, or null where there is none that is an object. */
export function exampleOf(tool: ToolDefinition): JsonObject | null {
  const examples = tool.input['examples'];
  const [first] = Array.isArray(examples) ? (examples as readonly Json[]) : [];
  return typeof first === 'object' && first !== null && !Array.isArray(first) ? (first as JsonObject) : null;
}

export function numbered(template: Json, n: number): Json {
  if (typeof template === 'string') return template.replace(placeholder, String(n));
  if (Array.isArray(template)) return template.map((each) => numbered(each, n));
  if (typeof template !== 'object' || template === null) return template;
  return Object.fromEntries(Object.entries(template as JsonObject).map(([name, value]) => [name, numbered(value, n)]));
}
