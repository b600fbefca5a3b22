import path from 'node:path';
import type { CaseContext, FaultCase, LayerOfCases } from '../case.js';
import { startPostgres } from '../rig/postgres.js';
import { type FileResult, runTests } from './run-tests.js';
import { all } from './stories.js';
import { type RunFile, storyCase } from './story-case.js';

const told = all.filter(({ tests = [] }) => tests.length > 0);

/** Stories, or parts of them, that cannot be told yet, each with the feature it comes with. */
export const waiting: readonly string[] = all.flatMap(({ id, waitsFor }) =>
  waitsFor === undefined ? [] : [`${id} waits for ${waitsFor}`],
);

export const stories: LayerOfCases = {
  layer: 'L4',
  title: 'public incidents and statements, told through the running services',
  // npm test runs all flow tests by itself, in their short size.
  cases: async ({ seed, short }) => {
    const runFile = oncePerFile();
    return short ? [] : told.map((story) => storyCase(story, seed, runFile));
  },
  named: alone,
  again: ({ story: id }) => {
    const found = alone(id);
    if (found === null)
      throw new Error('not a replay of the layer L4: it names a story of faults/stories that has a test');
    return found;
  },
};

function alone(id: unknown): FaultCase | null {
  const story = told.find((each) => each.id === id);
  return story === undefined ? null : storyCase(story, 0, (file, titles, context) => run(file, context, titles));
}

/** The first story of a file runs all of it, for the others as well: starting the services takes longest. */
function oncePerFile(): RunFile {
  const results = new Map<string, Promise<FileResult>>();
  return (file, _, context) => {
    const result = results.get(file) ?? run(file, context);
    results.set(file, result);
    return result;
  };
}

/** In the full size, on a PostgreSQL of its own. */
async function run(name: string, { machine, dir, say, signal }: CaseContext, titles?: readonly string[]) {
  const file = `test/flow/${name}.flow.spec.ts`;
  say(`runs ${file}`);
  const postgres = await startPostgres({ machine, dir: path.join(dir, name) });
  try {
    return await runTests({
      ...{ file, dir: path.join(dir, name), signal },
      ...(titles && { titles }),
      env: {
        ...process.env,
        FAULTS_FULL: '1',
        INTENDANT_TEST_DATABASE_URL: postgres.ownerUrl,
        INTENDANT_NATS_BIN: machine.nats,
        INTENDANT_PG_BIN: machine.postgresBin,
      },
    });
  } finally {
    await postgres.close();
  }
}
