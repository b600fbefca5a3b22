/** Payload of doorbells and hints: which intents, at which version they were announced, and of which tool. */
export interface Ring {
  readonly intents: readonly {
    readonly id: string;
    readonly version: number;
    readonly tool: string;
    readonly toolVersion: number;
    /** True: of the sandbox, which has places of its own. */
    readonly sandbox?: boolean;
  }[];
}

const decoder = new TextDecoder();

/** What a doorbell or hint names; null for anything else, since whoever can reach the subject can send anything. */
export function readRing(payload: Uint8Array): Ring | null {
  const value = parsed(payload) as Ring | null;
  return typeof value === 'object' && Array.isArray(value?.intents) && value.intents.every(isAnnounced) ? value : null;
}

/** Intent ids of a hint; empty for anything else. */
export function readIds(payload: Uint8Array): string[] {
  const value = parsed(payload);
  return Array.isArray(value) ? value.filter((id) => typeof id === 'string') : [];
}

function isAnnounced(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { id, version, tool, toolVersion } = value as Record<string, unknown>;
  return (
    typeof id === 'string' && Number.isInteger(version) && typeof tool === 'string' && Number.isInteger(toolVersion)
  );
}

function parsed(payload: Uint8Array): unknown {
  try {
    return JSON.parse(decoder.decode(payload));
  } catch {
    return null;
  }
}
