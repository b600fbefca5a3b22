import { randomBytes } from 'node:crypto';
import { Agent } from './agents/http/agent.js';
import { openRun } from './agents/http/open-run.js';
import { readInstallation } from './demo/installation.js';
import { judge } from './demo/judge.js';
import { Narrator } from './demo/narrator.js';
import { Operator } from './demo/operator.js';
import { RunWatch } from './demo/run-watch.js';
import type { Story } from './demo/story.js';
import { tell } from './demo/tell.js';
import { UpstreamControl } from './demo/upstream.js';

const permissions = ['orders:read', 'payments:refund', 'mail:send', 'tickets:create'];

/** More than the chapters need, lost answers and what is asked again among it; the hour is for whoever watches them slowly. */
const budgets = { calls: 100, mutating: 50, destructive: 20, wallClock: '1h' };

/** Tells the story against a running installation. Exit status 0: it went as told, and ledger and log agree. */
async function main(): Promise<number> {
  const { url, upstreamUrl, serviceKey, operatorKey } = readInstallation();
  const narrator = new Narrator();
  const run = await openRun(url, serviceKey, { user: 'ada', permissions, ttl: '1h', budgets });
  const operator = new Operator(url, operatorKey);
  const watch = new RunWatch(operator, narrator, run.runId);
  const notAsTold: string[] = [];
  const story: Story = {
    agent: new Agent(url, run.token, async (line) => {
      // What led to it first.
      await watch.catchUp();
      narrator.tell('agent', line);
    }),
    operator,
    upstream: new UpstreamControl(upstreamUrl),
    watch,
    narrator,
    mark: `demo${randomBytes(5).toString('hex')}`,
    expect: (fact, sentence) => {
      if (!fact) notAsTold.push(sentence);
    },
  };
  watch.start();
  await tell(story).catch((error: unknown) => notAsTold.push(`the story stopped: ${reasonOf(error)}`));
  await watch.stop();
  try {
    return (await judge(story, run.runId, notAsTold)) ? 0 : 1;
  } catch (error) {
    for (const each of [...notAsTold, `log and ledger cannot be read: ${reasonOf(error)}`]) narrator.bad(each);
    return 1;
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

process.exitCode = await main().catch((error: unknown) => {
  console.error(`demo: ${reasonOf(error)}`);
  return 1;
});
