import type { ToolDefinition } from '@intendant/contracts';
import type { Environment } from '@intendant/runtime';
import { createRegistry } from '@intendant/tools';
import { Egress, misfits, openUpstreams, readUpstreamConfig, type UpstreamAdapter } from '@intendant/upstream';

/**
 * The way out for one effect, as the services have it, with their credentials. Each effect has its own: a circuit
 * breaker or a connection that one fault has spoilt must not decide about the next.
 *
 * @throws ConfigError when the credentials of the environment cannot be read
 */
export function openWayOut(tool: ToolDefinition, env: Environment): UpstreamAdapter {
  return openUpstreams(configOf(env), createRegistry([tool]));
}

/** Why the tool cannot be called at all, such as a credential or a module that is not there. @throws ConfigError */
export async function obstacles(tool: ToolDefinition, env: Environment): Promise<string[]> {
  return (await misfits(configOf(env), tool)).map(({ path, message }) => `${path.join('.')}: ${message}`);
}

/** Egress rules bind services, not the person who names a sandbox; and the proxy is on the loopback interface. */
function configOf(env: Environment) {
  return { ...readUpstreamConfig(env), egress: Egress.unlimited };
}
