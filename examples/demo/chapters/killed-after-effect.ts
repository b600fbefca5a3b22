import { setTimeout as delay } from 'node:timers/promises';
import type { ToolCall } from '../../agents/http/agent.js';
import { call, NoAnswer } from '../../agents/http/call.js';
import { readInstallation } from '../installation.js';
import { proposalOf } from '../intent-record.js';
import { orderId, type Story } from '../story.js';

const restartMs = 20_000;
const pollMs = 100;

/** The refund happens and its answer never comes, because the process that waits for it is killed. */
export async function killedAfterEffect(story: Story): Promise<void> {
  const { agent, upstream, watch, narrator, expect } = story;
  const stepId = 'refund-killed';
  const order = orderId(story, 'c');
  narrator.chapter('(c) The upstream refunds and hangs; the process of the services is killed');
  await upstream.misbehave({ path: '/refunds', bodyContains: order, behaviour: { then: 'hang' } });

  const refund: ToolCall = { stepId, tool: 'payments.refund.create', args: { order_id: order, amount_cents: 990 } };
  const first = agent.submit(refund, 20).catch(unlessNoAnswer);
  const started = await watch.until(stepId, 'attempt_started', 10_000);
  const effect = await upstream.effectOf(proposalOf(started).key, 5_000);
  narrator.tell('upstream', `has made refund ${effect.externalId} and says nothing`);

  const { pid } = readInstallation();
  process.kill(pid, 'SIGKILL');
  narrator.tell('SIGKILL', `to process ${pid}, which hosts all services`);
  const broken = (await first) === null;
  expect(broken, 'refund-killed: the first call is cut off by the kill');
  if (broken) narrator.tell('agent', 'thinks: the connection broke, so nothing happened; once more');
  const retry = agent.insist(refund, 20, restartMs);
  await Promise.all([retry, restarted(pid, narrator)]);

  const { result } = await retry;
  expect(result?.replayed === true, 'refund-killed: the retry is answered from the first call');
  expect(result?.status === 'committed', 'refund-killed: the retry is told that it happened');
  const events = await watch.until(stepId, 'committed', 10_000);
  const orphaned = events.some(({ cause }) => cause === 'lease_expired');
  expect(orphaned, 'refund-killed: the attempt was open when the process died');
}

/** A process other than `killed` hosts the services and is ready for work. */
async function restarted(killed: number, narrator: Story['narrator']): Promise<void> {
  const deadline = performance.now() + restartMs;
  for (;;) {
    const { pid, url } = readInstallation();
    const answer = await call<unknown>(`${url}/readyz`).catch(unlessNoAnswer);
    if (pid !== killed && answer?.status === 200) {
      narrator.tell('supervisor', `has started process ${pid}, which is ready`);
      return;
    }
    if (performance.now() > deadline) {
      throw new Error(`The services were not ready again ${restartMs / 1_000} s after process ${killed} was killed`);
    }
    await delay(pollMs);
  }
}

function unlessNoAnswer(error: unknown): null {
  if (error instanceof NoAnswer) return null;
  throw error;
}
