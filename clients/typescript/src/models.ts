import type { Run } from './run.js';
import type { IntentResult, JsonObject, Tool } from './wire.js';

/** Names of tools have dots, which models may not say; they never have hyphens, so each stands for the other. */
export function modelName(tool: string): string {
  return tool.replaceAll('.', '-');
}

/** The tool that a model means. */
export function toolName(name: string): string {
  return name.replaceAll('-', '.');
}

/** What a model wants called; the id of its tool call is the step. */
export interface ModelCall {
  readonly tool: string;
  readonly args: JsonObject;
  readonly stepId: string;
}

/** A schema of an object, as the SDKs type it. */
type ObjectSchema = { type: 'object'; [member: string]: unknown };
/** Every tool takes an object. */
const schemaOf = ({ inputSchema }: Tool): ObjectSchema => ({ ...inputSchema, type: 'object' });

/** For `tools` of OpenAI's chat completions. */
export function openaiTools(
  tools: readonly Tool[],
): { type: 'function'; function: { name: string; description: string; parameters: ObjectSchema } }[] {
  return tools.map((tool) => ({
    type: 'function',
    function: { name: modelName(tool.name), description: tool.description, parameters: schemaOf(tool) },
  }));
}

/** For `tools` of OpenAI's responses. */
export function openaiResponsesTools(
  tools: readonly Tool[],
): { type: 'function'; name: string; description: string; parameters: ObjectSchema; strict: false }[] {
  return openaiTools(tools).map(({ type, function: it }) => ({ type, ...it, strict: false }));
}

/** @throws SyntaxError where the model wrote no JSON */
export function openaiCall(call: { id: string; function: { name: string; arguments: string } }): ModelCall {
  return { tool: toolName(call.function.name), args: JSON.parse(call.function.arguments || '{}'), stepId: call.id };
}

/** For `tools` of Anthropic's messages. */
export function anthropicTools(
  tools: readonly Tool[],
): { name: string; description: string; input_schema: ObjectSchema }[] {
  return tools.map((tool) => ({
    name: modelName(tool.name),
    description: tool.description,
    input_schema: schemaOf(tool),
  }));
}

export function anthropicCall(block: { id: string; name: string; input: unknown }): ModelCall {
  return { tool: toolName(block.name), args: block.input as JsonObject, stepId: block.id };
}

/**
 * For `tools` of the Vercel AI SDK; `jsonSchema` is the function of that name from the package `ai`. A tool that is
 * called calls this run, with the id of the tool call as its step.
 */
export function aiSdkTools<Schema>(
  tools: readonly Tool[],
  run: Pick<Run, 'call'>,
  jsonSchema: (schema: ObjectSchema) => Schema,
): Record<
  string,
  {
    description: string;
    inputSchema: Schema;
    execute: (args: object, options: { toolCallId: string; abortSignal?: AbortSignal | undefined }) => Promise<string>;
  }
> {
  const entries = tools.map((tool) => [
    modelName(tool.name),
    {
      description: tool.description,
      inputSchema: jsonSchema(schemaOf(tool)),
      execute: async (args: object, { toolCallId, abortSignal }: { toolCallId: string; abortSignal?: AbortSignal }) =>
        textFor(await run.call(tool.name, args, { stepId: toolCallId, ...(abortSignal && { signal: abortSignal }) })),
    },
  ]);
  return Object.fromEntries(entries);
}

/** A result as text for the model: what is known, and the data or what to do. */
export function textFor({ status, outcome, data, summary, error, warning }: IntentResult): string {
  return JSON.stringify({
    status,
    outcome,
    ...(warning !== undefined && { warning }),
    ...(data !== null && { data }),
    ...(summary !== null && { summary }),
    ...(error && { error: { code: error.code, message: error.message, nextAction: error.nextAction } }),
  });
}
