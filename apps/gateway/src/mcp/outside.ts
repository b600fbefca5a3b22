import type { CallToolResult } from '@modelcontextprotocol/server';

const where = 'stands in the text, between two lines with a marker';

/**
 * The same answer without what was written outside in its structured content, which hosts show to models as it is; the text
 * has it between fences.
 */
export function withoutOutside(answer: CallToolResult): CallToolResult {
  const told = answer.structuredContent as Record<string, unknown> | undefined;
  if (told?.['untrusted'] !== true) return answer;
  const { data, summary, error, omitted, tool } = told;
  const note = data === null || data === undefined ? null : `What ${tool} answered ${where}.`;
  return {
    ...answer,
    structuredContent: {
      ...told,
      data: null,
      summary: [summary, note].filter(Boolean).join(' ') || null,
      ...(Array.isArray(omitted) && { omitted: [] }),
      ...(isObject(error) && {
        error: { ...error, message: `${known(`${tool}`, told['outcome'])} ${where}.`, details: {} },
      }),
    },
  };
}

/** What has to be known without the text: a host may show the model nothing but structured content. */
function known(tool: string, outcome: unknown): string {
  if (outcome === 'not_executed') return `${tool} did not happen; why`;
  return `It is not certain whether ${tool} has happened, so do not call it again; what is known`;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
