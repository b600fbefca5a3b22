import type { ToolDefinition } from '@intendant/contracts';
import type { Json, LookupAnswer, PollAnswer, Proposal } from '@intendant/intent';
import type { ToolRegistry } from '@intendant/tools';
import type { LookupRequest, UpstreamAdapter } from '@intendant/upstream';
import { Shares } from './shares.js';

/** What the reconciler asks upstreams, and what their answers are worth. */
export class Questions {
  private readonly shares = new Shares();

  constructor(
    private readonly tools: ToolRegistry,
    private readonly upstream: UpstreamAdapter,
  ) {}

  /**
   * What `ask` says when it is the turn of the tool's upstream; null when that is not soon. Its sandbox has its turns with
   * it. `patient` waits for as long as it takes.
   */
  async inTurn<T>(tool: string, ask: () => Promise<T>, patient: boolean): Promise<{ readonly said: T } | null> {
    const upstream = this.tools.get(tool)?.upstream.name;
    return upstream === undefined ? { said: await ask() } : this.shares.inTurn(upstream, ask, patient);
  }

  /** Tools about which nothing more can be asked now. */
  crowded(): string[] {
    return this.tools
      .list()
      .filter(({ upstream }) => this.shares.isFull(upstream.name))
      .map(({ name }) => name);
  }

  async lookup(proposal: Proposal): Promise<LookupAnswer> {
    const tool = this.tools.get(proposal.tool);
    if (!tool) return { kind: 'cannot_tell', detail: `this reconciler has no tool ${proposal.tool}` };
    if (proposal.terms.lookup === 'none') return { kind: 'cannot_tell', detail: 'the tool has no lookup' };
    const answer = await this.upstream.lookup(requestOf(tool, proposal));
    // The lookup of another contract may search elsewhere: what it finds is there, what it does not find proves nothing.
    if (tool.contractDigest === proposal.contractDigest || answer.kind === 'present') return answer;
    return { kind: 'cannot_tell', detail: `this reconciler has ${proposal.tool} with another contract` };
  }

  /** `accepted`: what the upstream answered when it took the request. */
  async poll(proposal: Proposal, accepted: Json): Promise<PollAnswer> {
    const tool = this.tools.get(proposal.tool);
    if (!tool) return { kind: 'pending', detail: `this reconciler has no tool ${proposal.tool}` };
    const answer = await this.upstream.poll({ accepted, ...requestOf(tool, proposal) });
    // Another contract may read the end of an operation differently.
    if (tool.contractDigest === proposal.contractDigest || answer.kind === 'executed') return answer;
    return { kind: 'pending', detail: `this reconciler has ${proposal.tool} with another contract` };
  }
}

function requestOf(tool: ToolDefinition, proposal: Proposal): LookupRequest {
  const { args, injected, key, intentId, tenant, runId, sandbox } = proposal;
  return { tool, args: { ...args, ...injected }, key, intentId, tenant, runId, sandbox };
}
