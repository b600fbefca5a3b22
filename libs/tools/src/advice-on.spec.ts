import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { adviceOn } from './advice-on.js';
import { readTools } from './load-tools.js';

const good = 'Read one order. Do not use it to search.';
const on = (name: string, description: string) => adviceOn([{ name, description }]).get(name);

describe('advice on a tool', () => {
  it.each([
    ['orders.get', good, []],
    ['orders.get_all', good, []],
    ['orders.order', good, [/^the name ends with order, which is no verb/]],
    ['orders.get', `This tool reads orders. Never guess.`, [/begins with "This tool"/]],
    ['orders.get', 'Read one order.', [/does not say when not to use/]],
    ['orders.get', `${'x'.repeat(101)}\nDo not.`, [/first line of the description has 101 characters/]],
    ['orders.get', `${'x'.repeat(100)}\nDo not.`, []],
  ])('%s, %j', (name, description, expected) => {
    expect(on(name, description)).toEqual(expected.map((pattern) => expect.stringMatching(pattern)));
  });

  it('names tools whose names are almost the same, and says nothing of those that differ', () => {
    const named = (...names: string[]) => [
      ...adviceOn(names.map((name) => ({ name, description: `${name.repeat(4)} never` }))).values(),
    ];
    expect(named('orders.get', 'order.get')).toEqual([
      [expect.stringContaining('almost that of order.get')],
      [expect.stringContaining('almost that of orders.get')],
    ]);
    expect(named('refund.create', 'orders.cancel')).toEqual([[], []]);
    const short = adviceOn([
      { name: 'hu.blob.get', description: 'Read a file. Do not write.' },
      { name: 'hu.slow.get', description: 'Wait for what takes long; never for the rest.' },
    ]);
    expect([...short.values()]).toEqual([[], []]);
  });

  it.each(['tools', 'tools-local', 'tools-mcp'])('has nothing to say of examples/%s', async (folder) => {
    const directory = path.join(import.meta.dirname, '../../../examples', folder);
    const tools = await readTools(directory, { DEMO_UPSTREAM_URL: 'http://127.0.0.1:1' });
    const advice = [...adviceOn(tools.map(({ tool }) => tool)).values()];
    expect(advice).toEqual(tools.map(() => []));
  });
});
