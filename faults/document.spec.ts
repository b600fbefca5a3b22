import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { dangerousStates } from './history/dangerous-states.js';
import { unmutated } from './mutations/gate-table.js';
import { shipped } from './mutations/mutants.js';
import { gateLayers } from './mutations/trial.js';

const page = readFileSync(new URL('../docs/fault-testing.md', import.meta.url), 'utf8');

/** What stands between two markers of that name. */
function block(name: string): string {
  return page.split(`<!-- ${name}:begin -->\n`)[1]?.split(`<!-- ${name}:end -->`)[0] ?? '';
}

test('the page names every dangerous state, as the rig counts it', () => {
  const lines = dangerousStates.map(({ name, meaning }) => `| ${name} | ${meaning} |\n`);
  expect(block('dangerous states')).toBe(
    `| state | what happened when it is counted |\n| --- | --- |\n${lines.join('')}`,
  );
});

test('the page tells of each bug that others have shipped which layer found it, and that the sources as they are passed', () => {
  const rows = new Map(
    block('mutation gate')
      .split('\n')
      .map((line) => line.split('|').map((cell) => cell.trim()))
      .map(([, name = '', ...cells]) => [name, cells.slice(0, -1)]),
  );
  for (const name of shipped) expect(rows.get(name)?.at(-1), name).toMatch(/\w/);
  expect(rows.get(unmutated)).toEqual([...gateLayers.map(() => '–'), '']);
});
