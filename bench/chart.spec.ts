import { expect, test } from 'vitest';
import { chart, escapeXml } from './chart.js';

const bar = (label: string, value: number) => ({ label, value, text: String(value), own: false });
const lengths = (svg: string) =>
  [...svg.matchAll(/<rect class="o[^"]*"[^>]* width="([\d.]+)"/g)].map(([, w]) => Number(w));

test('the longest bar fills the room, and the others are in proportion', () => {
  const [a = 0, b = 0, c = 0] = lengths(chart([{ title: 't', bars: [bar('a', 400), bar('b', 100), bar('c', 0)] }]));
  expect(b / a).toBeCloseTo(0.25, 2);
  expect(c).toBe(0);
});

test('each panel has its own scale', () => {
  const [a, b] = lengths(
    chart([
      { title: 'x', bars: [bar('a', 4_000)] },
      { title: 'y', bars: [bar('a', 0.4)] },
    ]),
  );
  expect(a).toBe(b);
});

test('a panel with nothing but zeros has no bars, and no NaN', () => {
  const svg = chart([{ title: 't', bars: [bar('a', 0)] }]);
  expect(lengths(svg)).toEqual([0]);
  expect(svg).not.toMatch(/NaN|Infinity/);
});

test('text cannot break the document', () => {
  expect(escapeXml('a < b & "c" > d')).toBe('a &lt; b &amp; &quot;c&quot; &gt; d');
  const svg = chart([{ title: '<script>"', bars: [bar('</text>&', 1)] }]);
  expect(svg).not.toContain('<script>');
  expect(svg).toContain('aria-label="&lt;script&gt;&quot;"');
  expect(svg).toContain('>&lt;/text&gt;&amp;</text>');
});

test('it can be read in light and dark', () => {
  const svg = chart([]);
  expect(svg).toContain('<rect class="background"');
  expect(svg).toContain('prefers-color-scheme: dark');
});
