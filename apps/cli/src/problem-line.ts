import type { ToolFileProblem } from '@intendant/tools';

/** A mistake in a file, where it is first, as editors know how to jump to. */
export function problemLine({ file, line, field, message }: ToolFileProblem): string {
  return `${file}:${line}${field && ` ${field}`}: ${message}`;
}
