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
      ...(isObject(error) && { error: { ...error, message: `${tool}: what is known ${where}.`, details: {} } }),
    },
  };
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
