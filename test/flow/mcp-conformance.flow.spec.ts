import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startConformanceProxy } from './conformance-proxy.js';
import { type Check, runScenarios, scenarioNames } from './conformance-suite.js';
import { writeConformanceTools } from './conformance-tools.js';
import { Stack } from './stack.js';

const revisions = ['2025-06-18', '2025-11-25', '2026-07-28'];
const page = readFileSync(new URL('../../docs/agents-mcp.md', import.meta.url), 'utf8');
/** What the page says of scenarios, and of single checks of them: `scenario:check`. */
const said = [...page.slice(page.indexOf('\n## Conformance\n')).matchAll(/^\| (`.*?) \| (.*?) *\|$/gm)].flatMap(
  ([, names = '', verdict = '']) => [...names.matchAll(/`([^`]+)`/g)].map(([, name = '']) => ({ name, verdict })),
);
const scenarios = said.filter(({ name }) => !name.includes(':'));
const passing = scenarios.filter(({ verdict }) => verdict.startsWith('pass')).map(({ name }) => name);
const excused = said.filter(({ name }) => name.includes(':')).map(({ name }) => name);

let folder: string;
let stack: Stack;
const checks: Check[] = [];
beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'intendant-conformance-tools-'));
  await writeConformanceTools(folder);
  stack = await Stack.start({ toolsDir: folder });
  const runs = [...revisions.map((each) => ['--suite', 'all', '--spec-version', each]), ['--suite', 'pending']];
  for (const found of await Promise.all(runs.map((which) => checksOf(...which)))) checks.push(...found);
}, 120_000);
afterAll(async () => {
  await stack?.stop();
  await rm(folder, { recursive: true, force: true });
});

async function checksOf(...which: string[]): Promise<Check[]> {
  const proxy = await startConformanceProxy(stack.url, (await stack.agent()).token);
  return runScenarios(proxy.url, ...which).finally(() => proxy.close());
}

const idOf = ({ scenario, id }: Check) => `${scenario}:${id}`;
const unmet = ({ status }: Check) => status === 'FAILURE' || status === 'WARNING';
/** Of the messages on the wire, which every scenario checks by the way. */
const isWire = ({ id }: Check) => id.startsWith('wire-schema-');

test('the page says of every scenario of the official suite, once, whether it applies', async () => {
  expect(scenarios.map(({ name }) => name).sort()).toEqual((await scenarioNames()).sort());
  expect(excused.filter((name) => !passing.includes(name.split(':')[0] ?? ''))).toEqual([]);
});

test('what the page says to pass passes in every revision, but for the checks it names', () => {
  const failed = checks.filter((check) => passing.includes(check.scenario) && !isWire(check) && unmet(check));
  const surprising = failed.filter((check) => !excused.includes(idOf(check)));
  expect(surprising.map((check) => `${idOf(check)} ${check.status}: ${check.errorMessage}`)).toEqual([]);
  expect(excused.filter((name) => !failed.some((check) => idOf(check) === name))).toEqual([]);
});

test('what the page says to pass has checked something', () => {
  const succeeded = new Set(checks.filter((check) => check.status === 'SUCCESS' && !isWire(check)).map(idOf));
  expect(passing.filter((name) => ![...succeeded].some((id) => id.startsWith(`${name}:`)))).toEqual([]);
});

test('every message fits the schema of its revision, whatever a scenario asks', () => {
  const wire = checks.filter(isWire);
  expect(wire.length).toBeGreaterThan(80);
  expect(wire.filter(unmet)).toEqual([]);
});
