import type { Path, ToolSource } from './tool-source.js';

/** Fields of the public contract whose behaviour does not exist; accepting them would promise what nobody keeps. */
const unsupported: readonly Path[] = [['compensation']];

/** Refuses fields that would otherwise be ignored without a word. */
export function checkSupported(source: ToolSource): void {
  for (const path of unsupported) {
    if (source.value(...path) !== undefined) source.report(path, 'not supported yet; remove it');
  }
}
