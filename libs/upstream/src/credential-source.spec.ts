import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { createLogger } from '@intendant/runtime';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { credentialSource } from './credential-source.js';

let directory: string;
let file: string;
beforeEach(async () => {
  directory = await mkdtemp(path.join(os.tmpdir(), 'credentials-'));
  file = path.join(directory, 'credentials.yaml');
});
afterEach(() => rm(directory, { recursive: true }));

test('a file that changes is read again, at most every two seconds', async () => {
  let now = 0;
  await writeFile(file, 'a: { bearer: first-secret }');
  const source = credentialSource({ INTENDANT_CREDENTIALS_FILE: file }, createLogger('spec', 'silent'), () => now);
  expect(source().get('a')).toMatchObject({ secret: 'first-secret' });
  await writeFile(`${file}.new`, 'a: { bearer: second-secret }');
  await rename(`${file}.new`, file);
  now = 1_999;
  expect(source().get('a')).toMatchObject({ secret: 'first-secret' });
  now = 2_000;
  expect(source().get('a')).toMatchObject({ secret: 'second-secret' });
});

test('a file that turns bad changes nothing until it is good again', async () => {
  let now = 0;
  await writeFile(file, 'a: { bearer: first-secret }');
  const source = credentialSource({ INTENDANT_CREDENTIALS_FILE: file }, undefined, () => now);
  for (const bad of ['a: { bearer: ', 'a: { nothing: 1 }', null]) {
    await (bad === null ? rm(file) : writeFile(file, bad));
    now += 2_000;
    expect(source().get('a')).toMatchObject({ secret: 'first-secret' });
  }
  await writeFile(file, 'a: { bearer: second-secret }');
  now += 2_000;
  expect(source().get('a')).toMatchObject({ secret: 'second-secret' });
});

test('a file that is bad from the start is refused', async () => {
  await writeFile(file, 'a: { nothing: 1 }');
  expect(() => credentialSource({ INTENDANT_CREDENTIALS_FILE: file }, undefined)).toThrow(
    'INTENDANT_CREDENTIALS a: has no kind',
  );
});

test('without the setting there are none', () => {
  expect(credentialSource({}, undefined)().size).toBe(0);
});
