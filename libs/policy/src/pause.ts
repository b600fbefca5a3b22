import type { PauseScope, ToolDefinition } from '@intendant/contracts';

/** The first pause that keeps this tenant from this tool; null where none does. */
export function pauseOver<T extends PauseScope>(pauses: readonly T[], tenant: string, tool: ToolDefinition): T | null {
  return pauses.find((pause) => covers(pause, tool) && (pause.tenant ?? tenant) === tenant) ?? null;
}

/** Whether a tool is within the scope, whoever calls it. */
export function covers({ tool, namespace, upstream }: PauseScope, { name, upstream: at }: ToolDefinition): boolean {
  return (
    (tool ?? name) === name &&
    (namespace === null || name.startsWith(`${namespace}.`)) &&
    (upstream ?? at.name) === at.name
  );
}
