import { createRequire } from 'node:module';
import type { ModuleUpstream, PreviewDefinition } from '@intendant/contracts';
import { createJiti } from 'jiti';
import { type DefinedTool, sortOf } from './define-tool.js';
import { messageOf } from './short-text.js';

export type LoadedModule = DefinedTool<unknown, unknown>;

/** Modules are written against this name, wherever they stand and whether or not the package is installed there. */
const entry = 'intendant/tool';
/** As this package exports it. */
const entryFile = createRequire(import.meta.url).resolve(entry);

// The cache on disk would outlive a change of the compiler, and the service may not be able to write anywhere.
const jiti = createJiti(import.meta.url, { alias: { [entry]: entryFile }, fsCache: false });

/**
 * Loads a TypeScript or JavaScript file whose default export is made by `defineTool`; twice the same file is the same
 * module.
 *
 * @throws Error that says what is wrong with it
 */
export async function loadModule(path: string): Promise<LoadedModule> {
  let exports: { readonly default?: unknown };
  try {
    exports = await jiti.import(path);
  } catch (error) {
    throw new Error(`cannot be loaded (${onOneLine(messageOf(error))}); must be a file that imports and compiles`, {
      cause: error,
    });
  }
  if (sortOf(exports.default) === 'tool') return exports.default as LoadedModule;
  throw new Error(`has no proper default export; must have \`export default defineTool({ … })\` from '${entry}'`);
}

/** Without the list of who required it: that is this file. */
function onOneLine(message: string): string {
  return message.replace(/\nRequire stack:.*/s, '').replace(/\s+/g, ' ');
}

/**
 * Why a module cannot be the upstream that a tool file says it is, as fields of that file. Asked when a process starts:
 * an upstream of another kind may be down then and come back, but a module that does not load is a mistake.
 */
export async function moduleMisfits(
  declared: ModuleUpstream,
  part: string,
  preview: PreviewDefinition | null,
): Promise<{ readonly path: readonly string[]; readonly message: string }[]> {
  let module: LoadedModule;
  try {
    module = await loadModule(declared.path);
  } catch (error) {
    return [{ path: ['upstream', part, 'file'], message: messageOf(error) }];
  }
  const functions = [
    { name: 'lookup', isDeclared: declared.lookup !== null, path: ['upstream', 'lookup'] },
    { name: 'poll', isDeclared: declared.poll !== null, path: ['upstream', 'poll'] },
    { name: 'preview', isDeclared: preview !== null, path: ['approval', 'preview'] },
  ] as const;
  return functions
    .filter(({ name, isDeclared }) => isDeclared && module[name] === undefined)
    .map(({ path }) => ({
      path,
      message: 'the module has no such function; must be given to defineTool, or removed here',
    }));
}
