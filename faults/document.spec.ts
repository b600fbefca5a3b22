import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { dangerousStates } from './history/dangerous-states.js';

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
