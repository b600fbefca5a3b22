import type { JsonObject } from '@intendant/intent';
import { type Alias, type Document, isMap, type LineCounter, parseDocument, visit, type YAMLMap } from 'yaml';
import { unmaskReferences } from './environment.js';
import { ToolFileError } from './tool-file-error.js';

/**
 * Reads the one YAML mapping of a tool file.
 *
 * @param text with masked references to variables.
 * @param lines takes down where lines begin.
 * @throws ToolFileError when it is something else, or its aliases lead nowhere, into themselves or too far.
 */
export function readYaml(file: string, text: string, lines: LineCounter): { contents: YAMLMap; data: JsonObject } {
  const document = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    stringKeys: true,
    // 'silent' would leave out that there is a second document, too.
    logLevel: 'error',
  });
  const mistakes = [
    ...[...document.errors, ...document.warnings].map(({ code, pos, message }) => ({
      at: pos[0],
      message:
        code === 'MULTIPLE_DOCS'
          ? 'a second document begins; must be one per file'
          : `not valid YAML: ${unmaskReferences(message)}`,
    })),
    ...aliasMistakes(document),
  ];
  if (mistakes.length > 0)
    throw refused(mistakes.map(({ at, message }) => ({ line: lines.linePos(at).line, message })));
  if (!isMap(document.contents)) {
    throw refused([{ line: 1, message: 'empty or not a mapping; must be `field: value` lines' }]);
  }
  try {
    return { contents: document.contents, data: document.toJS() as JsonObject };
  } catch (error) {
    // The limit on what a few aliases of aliases may grow into.
    if (!(error instanceof ReferenceError)) throw error;
    throw refused([{ line: 1, message: 'aliases repeat too much; must be written out' }]);
  }

  function refused(problems: readonly { line: number; message: string }[]): ToolFileError {
    return new ToolFileError(problems.map((problem) => ({ file, field: '', ...problem })));
  }
}

function aliasMistakes(document: Document): { at: number; message: string }[] {
  const mistakes: { at: number; message: string }[] = [];
  visit(document, {
    Alias(_, alias: Alias, path) {
      const anchor = alias.resolve(document);
      const at = alias.range?.[0] ?? 0;
      if (!anchor)
        mistakes.push({ at, message: `*${alias.source} is not known; must follow an anchor &${alias.source}` });
      else if (path.includes(anchor)) {
        mistakes.push({
          at,
          message: `*${alias.source} stands inside itself; must follow what &${alias.source} names`,
        });
      }
    },
  });
  return mistakes;
}
