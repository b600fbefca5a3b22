import type { EventType, Intent } from '@intendant/intent';
import { intentKey } from '@intendant/tools';
import type { Behaviour } from '../../examples/upstream/server.js';
import type { Agent } from './clients.js';
import type { Stack } from './stack.js';

/** Calls that the upstream deals with as ordered, and what became of them. */
export class UpstreamCalls {
  constructor(private readonly stack: Stack) {}

  async load(intentId: string): Promise<Intent> {
    const intent = await this.stack.store.intents.load(intentId);
    if (!intent) throw new Error(`no intent ${intentId}`);
    return intent;
  }

  async eventsOf(intentId: string): Promise<EventType[]> {
    return (await this.stack.store.intents.history(intentId)).map(({ event }) => event.type);
  }

  /** Submits a call of a run of its own as step `s1`, and waits for its outcome. */
  async run(tool: string, behaviour: Behaviour) {
    const agent = await this.stack.agent();
    this.stack.upstream.behave({ match: { bodyContains: agent.runId }, behaviour });
    const result = await agent.submit(tool, { ref: agent.runId }, { stepId: 's1', wait: '20s' });
    const intent = await this.load(result.intentId);
    const { key } = intent.proposal;
    return {
      ...{ agent, result, intent, key },
      causes: intent.attempts.map((attempt) => attempt.cause),
      requests: this.stack.requests(key).length,
      effects: this.stack.effects(key).length,
    };
  }

  /** The key a step will have at the upstream, before it is submitted. */
  keyOfStep({ runId }: Agent, tool: string, stepId: string): string {
    return intentKey({ tenant: 'acme', runId }, { tool, args: {}, stepId, toolVersion: null, sandbox: false }, {});
  }
}
