import type { JsonObject, Tool } from './wire.js';

/** Names of tools have dots, which models may not say; they never have hyphens, so each stands for the other. */
export function modelName(tool: string): string {
  return tool.replaceAll('.', '-');
}

/** The tool that a model means. */
export function toolName(name: string): string {
  return name.replaceAll('-', '.');
}

/** What a model wants called. */
export interface ModelCall {
  readonly tool: string;
  /** An object, or JSON text as the model wrote it. */
  readonly args: JsonObject | string;
  readonly stepId: string;
}

/** A schema of an object, as the SDKs type it. */
export type ObjectSchema = { type: 'object'; [member: string]: unknown };
/** Every tool takes an object. */
export const schemaOf = ({ inputSchema }: Tool): ObjectSchema => ({ ...inputSchema, type: 'object' });

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

/**
 * The arguments stay as the model wrote them: a parser would hide a name that is there twice, and change numbers.
 *
 * @param stepId without it the id of the tool call, which is the step only where the model's turn is kept before it is executed
 */
export function openaiCall(
  call: { id: string; function: { name: string; arguments: string } },
  stepId = call.id,
): ModelCall {
  return { tool: toolName(call.function.name), args: call.function.arguments || '{}', stepId };
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

/** @param stepId as of {@link openaiCall} */
export function anthropicCall(block: { id: string; name: string; input: unknown }, stepId = block.id): ModelCall {
  return { tool: toolName(block.name), args: block.input as JsonObject, stepId };
}
