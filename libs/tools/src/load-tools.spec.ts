import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { loadTools } from './load-tools.js';
import { environment, refundFile } from './refund-tool.spec-helper.js';
import { ToolFileError, type ToolFileProblem } from './tool-file-error.js';

describe('loading a directory of tools', () => {
  let directory: string;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'tools-'));
  });

  afterEach(() => rm(directory, { recursive: true }));

  function write(name: string, text: string): Promise<void> {
    return writeFile(join(directory, name), text);
  }

  async function problems(): Promise<readonly ToolFileProblem[]> {
    const error: unknown = await loadTools(directory, environment).catch((reason: unknown) => reason);
    if (error instanceof ToolFileError) return error.problems;
    throw new Error('the tools were loaded');
  }

  test('gives the tools by name and in the order of their names', async () => {
    await write('1.tool.yaml', refundFile(['payments.refund', 'payments.void']));
    await write('2.tool.yaml', refundFile());
    const registry = await loadTools(directory, environment);
    expect(registry.list().map(({ name }) => name)).toEqual(['payments.refund.create', 'payments.void.create']);
    expect(registry.get('payments.refund.create')?.file).toBe(join(directory, '2.tool.yaml'));
    expect(registry.get('payments.refund')).toBeUndefined();
    expect(registry.get('constructor')).toBeUndefined();
  });

  test('reads nothing but tool files', async () => {
    await write('notes.yaml', 'not: a tool');
    await write('README.md', '# Tools');
    await write('a.tool.yaml', refundFile());
    expect((await loadTools(directory, environment)).list()).toHaveLength(1);
  });

  test('refuses a directory without tool files', async () => {
    await write('notes.yaml', 'not: a tool');
    expect(await problems()).toEqual([
      { file: directory, line: 0, field: '', message: 'holds no tool; must have at least one *.tool.yaml file' },
    ]);
  });

  test('refuses a file with the other ending instead of leaving it out, beside the mistakes of the others', async () => {
    await write('a.tool.yml', refundFile());
    await write('b.tool.yaml', refundFile(['effect: destructive\n', '']));
    expect(await problems()).toEqual([
      {
        file: join(directory, 'a.tool.yml'),
        line: 0,
        field: '',
        message: 'has the ending .tool.yml; must be renamed to a.tool.yaml',
      },
      expect.objectContaining({ file: join(directory, 'b.tool.yaml'), field: 'effect' }),
    ]);
  });

  test('reports the mistakes of every file, in the order of the files', async () => {
    await write('b.tool.yaml', refundFile(['effect: destructive\n', '']));
    await write('a.tool.yaml', refundFile(['${PAYMENTS_URL}', '${OTHER_URL}'], ['payments.refund', 'payments.void']));
    await write('c.tool.yaml', 'a: *nothing');
    expect((await problems()).map(({ file, field }) => [file.slice(directory.length + 1), field])).toEqual([
      ['a.tool.yaml', 'upstream.http.baseUrl'],
      ['b.tool.yaml', 'effect'],
      ['c.tool.yaml', ''],
    ]);
  });

  test('names both files when two tools have one name, whatever their versions', async () => {
    await write('a.tool.yaml', refundFile());
    await write('b.tool.yaml', refundFile(['version: 1', 'version: 2']));
    expect(await problems()).toEqual([
      {
        file: join(directory, 'b.tool.yaml'),
        line: 2,
        field: 'name',
        message: `payments.refund.create is declared in ${join(directory, 'a.tool.yaml')} too; must be unique, so rename or remove one of them`,
      },
    ]);
  });

  test('says what cannot be read', async () => {
    await mkdir(join(directory, 'x.tool.yaml'));
    expect(await problems()).toEqual([expect.objectContaining({ file: join(directory, 'x.tool.yaml'), line: 0 })]);
    await expect(loadTools(join(directory, 'nowhere'), {})).rejects.toThrow(
      /nowhere:0: cannot be read .*must be a directory/,
    );
  });
});
