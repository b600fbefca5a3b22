import { setTimeout as pause } from 'node:timers/promises';
import type { IntentResult } from '@intendant/contracts';
import type { Agent } from './clients.js';

interface Call {
  readonly tool: string;
  readonly args: unknown;
  readonly stepId: string;
}

/** An agent runtime that does what the contract says: it sends the same step again until somebody answers. */
export async function submitUntilAnswered(agent: Agent, call: Call, options = { tryMs: 1_000, timeoutMs: 20_000 }) {
  const deadline = performance.now() + options.timeoutMs;
  let last: unknown = 'nobody answered';
  while (performance.now() < deadline) {
    // A request to a process that dies is never answered; the deadline of the request itself is far away.
    const answer = await Promise.race([
      agent.submit(call.tool, call.args, { stepId: call.stepId }).catch((error: unknown) => error),
      pause(options.tryMs, new Error('no answer yet')),
    ]);
    if (isResult(answer)) return answer;
    last = answer instanceof Error ? answer : JSON.stringify(answer);
    await pause(20);
  }
  throw new Error(`${call.tool} ${call.stepId} was not answered in ${options.timeoutMs} ms: ${String(last)}`);
}

function isResult(answer: unknown): answer is IntentResult {
  return typeof answer === 'object' && answer !== null && 'intentId' in answer;
}
