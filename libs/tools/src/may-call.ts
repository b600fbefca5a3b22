import type { Permit, Session, ToolDefinition } from '@intendant/contracts';

/**
 * Least privilege: allowed only with the tool's permission, and only in its phases. A permission of the session that
 * ends with `*` stands for everything that begins with what is before it.
 */
export function mayCall(tool: ToolDefinition, session: Session): Permit {
  if (!session.permissions.some((granted) => covers(granted, tool.permission))) {
    return {
      allowed: false,
      reason: `${tool.name} needs the permission ${tool.permission}, which this run does not have`,
    };
  }
  if (tool.phases !== null && (session.phase === null || !tool.phases.includes(session.phase))) {
    const now = session.phase === null ? 'this run is in none' : `this run is in ${session.phase}`;
    return {
      allowed: false,
      reason: `${tool.name} may only be called in the phase ${tool.phases.join(' or ')}; ${now}`,
    };
  }
  return { allowed: true };
}

function covers(granted: string, needed: string): boolean {
  return granted.endsWith('*') ? needed.startsWith(granted.slice(0, -1)) : granted === needed;
}
