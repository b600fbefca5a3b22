import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { RunTokens } from '@intendant/credentials';
import { proposal } from '@intendant/testing';
import { ulid } from 'ulid';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from './eventually.js';
import { Stack, tokenSecret } from './stack.js';

const streams = 1_000;
const measuredMs = 3_000;

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

interface Stream {
  /** Makes something happen that it has to tell. */
  readonly stir: () => Promise<unknown>;
  /** Resolves when it has told of it. */
  readonly heard: () => Promise<void>;
  readonly close: () => void;
}

/** Follows a run of its own, or an intent in one, to the end of what has happened there. */
async function follow(ofRun: boolean): Promise<Stream> {
  const { runId, token } = await openRun();
  const intentId = await record(runId);
  const headers = { accept: 'text/event-stream', authorization: `Bearer ${token}` };
  // A connection of its own, which nobody keeps for later.
  const request = http.get(`${stack.url}/v1/${ofRun ? `runs/${runId}` : `intents/${intentId}`}/events`, {
    ...{ agent: false, headers },
  });
  const [response] = (await once(request, 'response')) as [http.IncomingMessage];
  expect(response.statusCode).toBe(200);
  let told = '';
  response.setEncoding('utf8').on('data', (text) => {
    told += text;
  });
  const until = async (event: string) => {
    while (!told.includes(`event: ${event}\n`)) await once(response, 'data');
  };
  await until('authorized');
  return {
    stir: () => stack.store.door.execute({ intentId, command: { type: 'cancel', by: 'ada' } }),
    heard: () => until('cancelled'),
    close: () => request.destroy(),
  };
}

async function open(count: number): Promise<Stream[]> {
  const opened: Stream[] = [];
  while (opened.length < count) {
    const batch = Array.from({ length: 50 }, (_, n) => follow(n % 2 === 0));
    opened.push(...(await Promise.all(batch)));
  }
  return opened;
}

/** Of a process: resident memory in bytes, time on the processor in ms, and open files, which sockets are. */
function usage(pid: number) {
  const fields = fs.readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  const rssKb = Number(/VmRSS:\s+(\d+)/.exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
  return {
    rss: rssKb * 1_024,
    cpuMs: (Number(fields[11]) + Number(fields[12])) * 10,
    files: fs.readdirSync(`/proc/${pid}/fd`).length,
  };
}

/** The share of a processor that it uses while nothing happens. */
async function idleShare(pid: number): Promise<number> {
  const [from, since] = [usage(pid).cpuMs, performance.now()];
  // The one wait for time: what is measured is what happens in it.
  await delay(measuredMs);
  return (usage(pid).cpuMs - from) / (performance.now() - since);
}

const openStreams = async () =>
  Number(
    /^intendant_event_streams_open (\d+)/m.exec(await (await fetch(`${stack.url}/metrics`)).text())?.[1] ?? Number.NaN,
  );

test.runIf(process.platform === 'linux')(
  `${streams} idle event streams cost a gateway little, all of them hear what happens, and nothing of them stays`,
  async () => {
    const pid = stack.services[0]?.pid ?? 0;
    // Code that runs for the first time costs more than the streams do.
    const first = await open(50);
    const before = usage(pid);
    const opened = await open(streams);
    expect(await openStreams()).toBe(streams + 50);
    const share = await idleShare(pid);
    const { rss } = usage(pid);
    console.log(
      `${streams} idle event streams: ${(rss / before.rss).toFixed(2)} times the memory, ${(share * 100).toFixed(1)} % of a processor`,
    );
    expect(rss / before.rss).toBeLessThan(2);
    expect(share).toBeLessThan(0.3);

    await Promise.all(opened.map(({ stir }) => stir()));
    await Promise.all(opened.map(({ heard }) => heard()));

    for (const { close } of [...first, ...opened]) close();
    await eventually('all streams are closed', async () => (await openStreams()) === 0);
    await eventually('and their sockets', () => usage(pid).files < before.files + 50);
  },
  120_000,
);
