import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parseToolFile } from './parse-tool-file.js';

const folder = new URL('../../../docs/', import.meta.url);

/** Complete tool files of the documentation, with where they stand. */
const examples = readdirSync(folder)
  .filter((name) => name.endsWith('.md'))
  .flatMap((name) => {
    const blocks = readFileSync(new URL(name, folder), 'utf8').matchAll(
      /```yaml\n(apiVersion: intendant\/v1\n[\s\S]*?)```/g,
    );
    return [...blocks].map(([, text = '']) => ({ name, tool: /^name: (\S+)/m.exec(text)?.[1] ?? '?', text }));
  });

describe('a tool file of the documentation loads as it stands', () => {
  test.each(examples)('$tool in docs/$name', ({ name, tool, text }) => {
    const env = {
      PAYMENTS_URL: 'https://payments.example',
      PAYMENTS_TEST_URL: 'https://sandbox.payments.example',
      REPORTS_DIR: '/srv/reports',
    };
    expect(parseToolFile(`docs/${name}`, text, env).name).toBe(tool);
  });

  test('and there are some', () => {
    expect(examples.length).toBeGreaterThan(3);
  });
});
