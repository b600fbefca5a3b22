import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { statements } from './statements.js';
import { all, stories } from './stories.js';
import { titlePattern } from './story.js';

const flow = fileURLToPath(new URL('../../test/flow/', import.meta.url));
const sourceOf = (file: string) => readFileSync(`${flow}${file}.flow.spec.ts`, 'utf8');
const tests = all.flatMap(({ id, tests = [] }) => tests.map(([file, title]) => ({ id, file, title })));

describe('the table of stories', () => {
  it('has every story and every statement, in their order', () => {
    const numbers = (length: number) => Array.from({ length }, (_, i) => i + 1);
    expect(stories.map(({ id }) => id)).toEqual(numbers(64).map((n) => `S${String(n).padStart(2, '0')}`));
    expect(statements.map(({ id }) => id)).toEqual(numbers(15).map((n) => `T${n}`));
  });

  it('says of each where it is held, or which feature it waits for', () => {
    expect(all.filter(({ tests = [], waitsFor }) => tests.length === 0 && waitsFor === undefined)).toEqual([]);
  });

  it.each(tests)('$id names a test of $file that is there once: $title', ({ file, title }) => {
    const source = sourceOf(file);
    const written = [`'${title}'`, `\`${title}\``].map((text) => source.split(text).length - 1);
    expect(Math.max(...written)).toBe(1);
    expect(Math.min(...written)).toBe(0);
  });

  it('knows every flow test that says in its title which story it holds', () => {
    const files = readdirSync(flow).filter((name) => /^stories-.*\.flow\.spec\.ts$/.test(name));
    const named = files.flatMap((name) => {
      const file = name.replace('.flow.spec.ts', '');
      const titles = sourceOf(file).matchAll(/['`]([^'`\n]+ \(([ST]\d+(?:, [ST]\d+)*)\))['`]/g);
      return [...titles].flatMap(([, title, ids]) => (ids ?? '').split(', ').map((id) => ({ id, file, title })));
    });
    expect(named.length).toBeGreaterThan(60);
    expect(named.filter((test) => !tests.some((other) => JSON.stringify(other) === JSON.stringify(test)))).toEqual([]);
  });
});

describe('the pattern of a title', () => {
  it('fits what the test is called when it runs, and no longer or other title', () => {
    const pattern = titlePattern('a cut after the COMMIT of the %s (by ${how}) leaves one (S55)');
    expect('suite a cut after the COMMIT of the start of an attempt (by RST) leaves one (S55)').toMatch(pattern);
    expect('a cut after the COMMIT of the start (by RST) leaves two (S55)').not.toMatch(pattern);
    expect('a cut after the COMMIT of the start (by RST) leaves one (S55) and more').not.toMatch(pattern);
  });
});
