import { ToolFileError } from '@intendant/tools';
import type { PolicySet } from './policy-set.js';
import { parsePolicyFiles } from './read-policy-files.js';

export const tools = ['payments.refund.create', 'payments.refund.find', 'mail.message.send'];

/** A set from files given as data; JSON is YAML. */
export function policies(...files: readonly object[]): PolicySet {
  return parsePolicyFiles(
    files.map((file, n) => ({
      file: `${n}.policy.yaml`,
      text: JSON.stringify({ apiVersion: 'intendant/policy/v1', ...file }),
    })),
    tools,
  );
}

/** What is wrong with policy files given as text, as `file:line field: message`; empty when nothing is. */
export function mistakes(...texts: readonly string[]): string[] {
  try {
    parsePolicyFiles(
      texts.map((text, n) => ({ file: `${n}.policy.yaml`, text })),
      tools,
    );
    return [];
  } catch (error) {
    if (error instanceof ToolFileError) return error.message.split('\n');
    throw error;
  }
}
