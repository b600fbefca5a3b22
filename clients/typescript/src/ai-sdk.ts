import { answerFor } from './answer-for.js';
import { modelName, type ObjectSchema, schemaOf } from './models.js';
import { ownTools, type Readable } from './own-tools.js';
import type { Run } from './run.js';
import type { JsonObject, Tool } from './wire.js';

export interface AiSdkOptions {
  /** How long a call waits for its outcome, in ms; two minutes without it. */
  readonly wait?: number;
  /**
   * The step of a call: the same when the call is made again, also after a crash of the runtime and by a model that was
   * asked anew. Without it the id of the tool call, which is that only where the runtime keeps the model's turn before
   * the SDK executes it.
   *
   * @param call `messages`: the conversation that led to it, as the SDK gives it
   */
  readonly stepOf?: (call: {
    readonly tool: string;
    readonly args: JsonObject;
    readonly toolCallId: string;
    readonly messages: readonly unknown[];
  }) => string;
}

interface Executing {
  readonly toolCallId: string;
  readonly messages: readonly unknown[];
  readonly abortSignal?: AbortSignal | undefined;
}

/**
 * For `tools` of the Vercel AI SDK; `jsonSchema` is the function of that name from the package `ai`. A tool that is called
 * calls this run and tells the model how it stands (see {@link answerFor}); {@link ownTools} are among them.
 */
export function aiSdkTools<Schema>(
  tools: readonly Tool[],
  run: Readable & Pick<Run, 'call'>,
  jsonSchema: (schema: ObjectSchema) => Schema,
  { wait, stepOf = ({ toolCallId }) => toolCallId }: AiSdkOptions = {},
): Record<
  string,
  { description: string; inputSchema: Schema; execute: (args: object, options: Executing) => Promise<string> }
> {
  const entries = [...tools, ...ownTools].map((tool) => [
    modelName(tool.name),
    {
      description: tool.description,
      inputSchema: jsonSchema(schemaOf(tool)),
      execute: (args: JsonObject, { toolCallId, messages, abortSignal: signal }: Executing) => {
        const stepId = stepOf({ tool: tool.name, args, toolCallId, messages });
        const options = { ...(wait !== undefined && { wait }), ...(signal && { signal }) };
        return answerFor(run, { tool: tool.name, args, stepId }, options);
      },
    },
  ]);
  return Object.fromEntries(entries);
}
