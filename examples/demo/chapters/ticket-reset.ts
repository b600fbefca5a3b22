import type { ToolCall } from '../../agents/http/agent.js';
import type { Story } from '../story.js';

/** Neither a key nor a lookup, and the connection breaks: only a person can find out, and does. */
export async function ticketReset(story: Story): Promise<void> {
  const { agent, operator, upstream, watch, narrator, mark, expect } = story;
  const stepId = 'ticket';
  const title = `Refund of ${mark} was late`;
  narrator.chapter('(d) The old help desk breaks the connection; nobody but a person can find out');
  await upstream.misbehave({ path: '/legacy/tickets', bodyContains: title, behaviour: { then: 'reset' } });

  const ticket: ToolCall = { stepId, tool: 'legacy.ticket.create', args: { title } };
  const reply = await agent.submit(ticket, 10);
  expect(reply.error?.nextAction === 'ask_human', 'ticket: the agent is told to ask a person');
  narrator.tell('agent', 'thinks: I am no person, so once more');
  const again = await agent.submit(ticket, 1);
  expect(again.result?.replayed === true, 'ticket: the retry is answered from the first call');

  const events = await watch.until(stepId, 'dead_lettered', 5_000);
  const { intentId, key } = events[0]?.proposal ?? { intentId: '', key: '' };
  expect((await operator.deadLetters()).includes(intentId), 'ticket: it is in the list of dead letters');
  const { externalId = '' } = await upstream.effectOf(key, 1_000);
  narrator.tell('operator', `finds ticket ${externalId} in the help desk and says so`);
  const evidence = `ticket ${externalId} has this title`;
  await operator.resolve(intentId, { outcome: 'executed', externalId, evidence });
  await watch.until(stepId, 'committed', 5_000);
}
