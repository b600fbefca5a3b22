import type { Store } from '@intendant/store';
import { compareContract, loadTools, type ToolRegistry } from '@intendant/tools';

/** A tool's contract changed under a version that was in use already. */
export class ContractChanged extends Error {
  override readonly name = 'ContractChanged';
}

/** Loads the tools and refuses any whose meaning changed under the same name and version. */
export async function loadRegistry(store: Store, toolsDir: string): Promise<ToolRegistry> {
  const registry = await loadTools(toolsDir, process.env);
  const changes: string[] = [];
  for (const tool of registry.list()) {
    const change = compareContract(tool, await store.toolContracts.remember(tool));
    if (change !== null) changes.push(change);
  }
  if (changes.length > 0) throw new ContractChanged(changes.join('\n'));
  return registry;
}
