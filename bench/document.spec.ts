import { expect, test } from 'vitest';
import { between, toMarkdown } from './document.js';
import { figuresOf, loadOf } from './figures.spec-helper.js';
import { readOptions } from './options.js';
import { summarize } from './report.js';

test('only what stands between the markers is replaced', () => {
  const text = 'before\n<!-- bench:begin -->\nold\n<!-- bench:end -->\nafter\n';
  const renewed = between(text, 'new');
  expect(renewed).toBe('before\n<!-- bench:begin -->\nnew\n<!-- bench:end -->\nafter\n');
  expect(between(renewed, 'new')).toBe(renewed);
});

test.each(['', '<!-- bench:begin -->', '<!-- bench:end -->\n<!-- bench:begin -->'])(
  'a text without both markers in order is refused: %j',
  (text) => {
    expect(() => between(text, 'new')).toThrow('needs the lines <!-- bench:begin --> and <!-- bench:end -->');
  },
);

test('the tables show every system, every load and every ratio', () => {
  const options = readOptions(['--peers', '--rounds', '2', '--concurrencies', '256,32']);
  const further = (perSecond: number) => ({ further: [loadOf(32, { perSecond })] });
  const measurements = [1, 2].flatMap((round) => [
    figuresOf('afternoon', round, { perSecond: 1_000 * round, ...further(500) }),
    figuresOf('standalone', round, { perSecond: 3_000 * round, otherCores: round - 1, ...further(600) }),
    figuresOf('restate', round, { perSecond: 500 * round, inFlight: 128, ...further(300) }),
  ]);
  const text = toMarkdown(summarize(options, { nats: 140_000, http: 60_000 }, measurements));
  expect(text).toContain('1 of 6 measurements shared the machine with more than 0.3 cores of other work.');
  expect(text).toContain('| standalone | 256 | 4500 (3000–6000) | 0.50 (0.50–0.50) |');
  expect(text).toContain('| restate | 128 | 750 (500–1000) |');
  expect(text).toContain('| afternoon version | 500 (500–500) | 0.50 (0.50–0.50) |');
  expect(text).toContain('| throughput vs best peer | 6.00 (6.00–6.00) | – |');
  expect(text).toContain('| throughput vs afternoon, 32 in flight | 1.20 (1.20–1.20) | – |');
  const widths = text.split('\n\n').map((block) => new Set(block.split('\n').map((row) => row.split('|').length)).size);
  expect(widths).toEqual(widths.map(() => 1));
});
