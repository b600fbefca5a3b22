import { recordOf } from './intent-record.js';
import { disagreements } from './ledger-agreement.js';
import { departures } from './plot.js';
import type { Story } from './story.js';
import { summary } from './summary.js';

/** Reads log and ledger afresh, prints the table and what is wrong; true when nothing is. */
export async function judge(story: Story, runId: string, notAsTold: readonly string[]): Promise<boolean> {
  const { agent, operator, upstream, narrator, mark } = story;
  const ids = await operator.intentsOf(runId);
  const intents = (await Promise.all(ids.map((id) => operator.events(id)))).map(recordOf);
  const ledger = await upstream.ledger();
  narrator.chapter('What the event log says, and what really happened');
  narrator.plain(summary(intents, ledger, (stepId) => agent.asked(stepId)));
  narrator.plain('');

  const contradictions = disagreements(intents, ledger, mark);
  for (const each of contradictions) narrator.bad(`The ledger and the event log disagree: ${each}`);
  if (contradictions.length === 0) narrator.good("The upstream's ledger agrees with the event log.");
  const all = [...notAsTold, ...departures(intents, ledger)];
  for (const each of all) narrator.bad(`Not as told: ${each}`);
  if (all.length === 0) narrator.good('Every step ended as the story tells it.');
  return contradictions.length + all.length === 0;
}
