import type { Pause, PauseScope, ToolDefinition } from '@intendant/contracts';

/** Of the pauses that keep this tenant from this tool, the one that ends last; null where there is none. */
export function pauseOver<T extends PauseScope & Pick<Pause, 'until'>>(
  pauses: readonly T[],
  tenant: string,
  tool: ToolDefinition,
): T | null {
  const over = pauses.filter((pause) => covers(pause, tool) && (pause.tenant ?? tenant) === tenant);
  return over.reduce<T | null>((last, pause) => (last === null || endOf(pause) > endOf(last) ? pause : last), null);
}

function endOf({ until }: Pick<Pause, 'until'>): number {
  return until === null ? Number.POSITIVE_INFINITY : Date.parse(until);
}

/** Whether a tool is within the scope, whoever calls it. */
export function covers({ tool, namespace, upstream }: PauseScope, { name, upstream: at }: ToolDefinition): boolean {
  return (
    (tool ?? name) === name &&
    (namespace === null || name.startsWith(`${namespace}.`)) &&
    (upstream ?? at.name) === at.name
  );
}
