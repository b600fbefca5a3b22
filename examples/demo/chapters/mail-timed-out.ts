import type { ToolCall } from '../../agents/http/agent.js';
import type { Story } from '../story.js';

/** The mail server takes the request and does nothing at all: two absences, then it is sent, once. */
export async function mailTimedOut(story: Story): Promise<void> {
  const { agent, upstream, watch, narrator, mark, expect } = story;
  const stepId = 'mail';
  const to = `${mark}b@customer.example`;
  narrator.chapter('(b) The mail server hangs without sending; asked twice, it has nothing; then the mail is sent');
  await upstream.misbehave({ path: '/mails', bodyContains: to, behaviour: { commit: false, then: 'hang' } });

  const mail: ToolCall = {
    stepId,
    tool: 'mail.send',
    args: { to, subject: 'Your refund', text: 'It is on its way.' },
  };
  await agent.submit(mail);
  await watch.until(stepId, 'outcome_unknown', 10_000);
  narrator.tell('agent', 'thinks: that took too long, so once more');
  const impatient = await agent.submit(mail);
  expect(impatient.result?.replayed === true, 'mail: a second mail is not on its way');
  narrator.tell('agent', 'thinks: unknown is no, so once more');
  const reply = await agent.submit(mail, 20);
  expect(reply.result?.replayed === true, 'mail: the retry is answered from the first call');
  expect(reply.result?.status === 'committed', 'mail: the retry is told that it was sent');

  const events = await watch.until(stepId, 'committed', 5_000);
  const absences = events.filter(({ type }) => type === 'lookup_absent').length;
  expect(absences === 2, `mail: two absences come before the second attempt (${absences} were seen)`);
}
