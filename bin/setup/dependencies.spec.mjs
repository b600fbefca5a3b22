import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { installedAsLocked } from './dependencies.mjs';

let directory;
beforeEach(() => {
  directory = fs.mkdtempSync(path.join(os.tmpdir(), 'dependencies-'));
  fs.mkdirSync(path.join(directory, 'node_modules'));
});
afterEach(() => fs.rmSync(directory, { recursive: true }));

const a = { version: '1.0.0', integrity: 'sha512-a' };
const b = { version: '2.0.0', integrity: 'sha512-b' };

function lock(packages) {
  fs.writeFileSync(path.join(directory, 'package-lock.json'), JSON.stringify({ packages: { '': {}, ...packages } }));
}
function install(packages) {
  fs.writeFileSync(path.join(directory, 'node_modules', '.package-lock.json'), JSON.stringify({ packages }));
}

describe('installed dependencies', () => {
  it('need no install when they are what the lock file says', () => {
    lock({ 'node_modules/a': a });
    install({ 'node_modules/a': a });
    expect(installedAsLocked(directory)).toBe(true);
  });

  it('are installed when an install was cut short, which leaves no hidden lock file', () => {
    lock({ 'node_modules/a': a });
    expect(installedAsLocked(directory)).toBe(false);
  });

  it.each([
    ['is missing', {}],
    ['has another version', { 'node_modules/a': { ...a, version: '1.0.1' } }],
    ['has other content', { 'node_modules/a': { ...a, integrity: 'sha512-x' } }],
    ['is no longer locked', { 'node_modules/a': a, 'node_modules/b': b }],
  ])('are installed when a package %s', (_, installed) => {
    lock({ 'node_modules/a': a });
    install(installed);
    expect(installedAsLocked(directory)).toBe(false);
  });

  it('may lack an optional package of another platform, but not the one of this platform', () => {
    install({ 'node_modules/a': a });
    lock({ 'node_modules/a': a, 'node_modules/b': { ...b, optional: true, os: ['aix'], cpu: ['ppc64'] } });
    expect(installedAsLocked(directory)).toBe(true);
    lock({
      'node_modules/a': a,
      'node_modules/b': { ...b, optional: true, os: [process.platform], cpu: [process.arch] },
    });
    expect(installedAsLocked(directory)).toBe(false);
  });
});
