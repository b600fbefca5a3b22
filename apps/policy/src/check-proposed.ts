import { Refusal, type Session, type ToolDefinition } from '@intendant/contracts';
import type { JsonObject } from '@intendant/intent';
import { mayCall, type ToolIntentMessage, type ToolRegistry } from '@intendant/tools';

/** @throws Refusal `unknown_tool`, with the name that was most likely meant */
export function findTool(tools: ToolRegistry, message: ToolIntentMessage, session: Session): ToolDefinition {
  const tool = tools.get(message.tool);
  if (!tool) {
    const near = tools.suggest(
      message.tool,
      (t) => mayCall(t, session).allowed && (!message.sandbox || t.sandbox !== null),
    );
    throw new Refusal(
      'unknown_tool',
      `There is no tool ${message.tool}.${near ? ` Did you mean ${near}?` : ' List the tools to see what there is.'}`,
      { ...(near && { suggestion: near }) },
    );
  }
  if (message.toolVersion !== null && message.toolVersion !== tool.version) {
    throw new Refusal(
      'unknown_tool',
      `${tool.name} has version ${tool.version}, not ${message.toolVersion}. List the tools to see its present contract.`,
      { version: tool.version },
    );
  }
  return tool;
}

/** @throws Refusal `invalid_arguments`, with every violation */
export function checkArguments(tools: ToolRegistry, tool: ToolDefinition, args: JsonObject): void {
  const problems = tools.check(tool, args);
  const [first] = problems;
  if (!first) return;
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : '';
  throw new Refusal(
    'invalid_arguments',
    `The arguments of ${tool.name} are not right: ${first.pointer || 'the arguments'}: expected ${first.expected}, got ${first.got}${more}. Nothing was recorded; correct every field named in details.`,
    { problems: problems.map((problem) => ({ ...problem })) as unknown as JsonObject[] },
  );
}

/** The real thing must never stand in for a sandbox that is not there. @throws Refusal `invalid_message` */
export function checkSandbox(message: ToolIntentMessage, tool: ToolDefinition, session: Session): void {
  if (!message.sandbox || tool.sandbox !== null) return;
  const problem = session.sandbox
    ? { pointer: '/tool', expected: 'a tool with a sandbox', got: JSON.stringify(tool.name) }
    : { pointer: '/sandbox', expected: 'false', got: 'true' };
  const why = session.sandbox ? ', and in this run every call goes to a sandbox' : '';
  throw new Refusal('invalid_message', `${tool.name} has no sandbox${why}. Nothing was recorded.`, {
    problems: [problem],
  });
}
