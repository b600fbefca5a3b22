import fs from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { RunTokens } from '@intendant/credentials';
import { proposal } from '@intendant/testing';
import { ulid } from 'ulid';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Stack, tokenSecret } from './stack.js';

const streams = 1_000;
const measuredMs = 10_000;

let stack: Stack;
beforeAll(async () => {
  stack = await Stack.start({ services: ['gateway'] });
});
afterAll(() => stack?.stop());

const record = async (runId: string) => {
  const p = proposal({ runId });
  await stack.store.door.execute({
    intentId: p.intentId,
    command: { type: 'record', proposal: p, ruling: { allow: true } },
  });
  return p.intentId;
};
const openRun = async () => {
  const id = `run_${ulid()}`;
  const run = { id, tenant: 'acme', user: 'ada', profile: 'batch', permissions: [], phase: null } as const;
  const { expiresAt } = await stack.store.runs.open({ ...run, openedBy: 'flow' }, 3_600_000);
  const { id: runId, ...session } = run;
  return { runId, token: await new RunTokens(tokenSecret).issue({ ...session, runId, expiresAt }) };
};

/** Of a process: resident memory in MB, and the time it has used the processor for, in ms. */
function usage(pid: number): { rssMb: number; cpuMs: number } {
  const fields = fs.readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  const rssKb = Number(/VmRSS:\s+(\d+)/.exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
  return { rssMb: rssKb / 1_024, cpuMs: (Number(fields[11]) + Number(fields[12])) * 10 };
}

test.runIf(process.platform === 'linux')(
  `${streams} idle event streams cost a gateway little, and each still hears what happens`,
  async () => {
    const pid = stack.services[0]?.pid ?? 0;
    const leave = new AbortController();
    const readers: { runId: string; read: () => Promise<string> }[] = [];
    const follow = async (ofRun: boolean) => {
      const { runId, token } = await openRun();
      const path = ofRun ? `/v1/runs/${runId}/events` : `/v1/intents/${await record(runId)}/events`;
      const response = await fetch(stack.url + path, {
        headers: { accept: 'text/event-stream', authorization: `Bearer ${token}` },
        signal: leave.signal,
      });
      expect(response.status).toBe(200);
      const reader = response.body?.getReader();
      const read = async () => Buffer.from((await reader?.read())?.value ?? []).toString();
      await read();
      if (ofRun) readers.push({ runId, read });
    };
    await follow(true);
    const before = usage(pid);
    for (let i = 0; i < streams; i += 50) {
      await Promise.all(Array.from({ length: 50 }, (_, k) => follow((i + k) % 2 === 0)));
    }
    const idle = usage(pid);
    // The one test that has to let time pass: it measures what happens in it.
    await delay(measuredMs);
    const after = usage(pid);
    const cost = {
      memoryMb: Math.round(after.rssMb - before.rssMb),
      processorPercent: Math.round(((after.cpuMs - idle.cpuMs) / measuredMs) * 100),
    };
    console.log(`${streams} idle event streams: ${JSON.stringify(cost)}`);
    expect(cost.memoryMb).toBeLessThan(200);
    expect(cost.processorPercent).toBeLessThan(40);

    const [one, other] = [readers[17], readers[401]];
    for (const { runId, read } of [one, other].flatMap((each) => each ?? [])) {
      await record(runId);
      let heard = '';
      // Heartbeats may come first.
      while (!heard.includes('event: recorded')) heard += await read();
    }
    leave.abort();
  },
  120_000,
);
