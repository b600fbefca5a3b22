import { loadTools } from '@intendant/tools';
import { expect, it } from 'vitest';
import { promisesOf } from '../rig/tool-promises.js';
import { boundMs, longestDeadlineMs } from './bound.js';
import { shortRetentionMs } from './plan.js';
import { toolsDir } from './round.js';
import { rigTools, toolName } from './tools.js';

const load = () => loadTools(toolsDir, { UPSTREAM_URL: 'http://127.0.0.1:1' });

it('calls tools that there are', async () => {
  const tools = await load();
  expect(
    tools
      .list()
      .map(({ name }) => name)
      .sort(),
  ).toEqual(rigTools.map(({ kind }) => toolName(kind)).sort());
});

it('counts with the longest deadline of a lookup or a poll', async () => {
  const deadlines = (await load())
    .list()
    .flatMap(({ terms }) => [
      ...(terms.lookup === 'none' ? [] : [terms.deadlineMs]),
      ...(terms.poll ? [terms.poll.deadlineMs] : []),
    ]);
  expect(Math.max(...deadlines)).toBe(longestDeadlineMs);
});

it('lets the upstream that forgets keys soon forget them when its tool file says so', async () => {
  const short = (await load()).list().find(({ name }) => name === toolName('short'));
  expect(short?.terms.retentionMs).toBe(shortRetentionMs);
});

it('gives a round more time whose lookups are never answered', async () => {
  const tools = await promisesOf(toolsDir);
  const usual = boundMs(tools, null);
  expect(usual).toBeLessThan(200_000);
  expect(boundMs(tools, { kind: 'silent_lookups', tool: 'keyed', answer: 'hang' })).toBeGreaterThan(usual + 40_000);
  expect(boundMs(tools, { kind: 'dispatcher_gone', replica: 'dispatcher/1' })).toBe(usual);
});
