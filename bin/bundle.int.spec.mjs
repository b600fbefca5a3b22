import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { root } from './setup/paths.mjs';

const main = (program) => path.join(root, 'dist', 'apps', program, 'src', 'main.js');

it('leaves programs where they were, with what they load in a few files', () => {
  for (const program of fs.readdirSync(path.join(root, 'apps'))) {
    expect(fs.readFileSync(main(program), 'utf8'), program).toContain('/chunks/');
  }
});

it('shows the TypeScript in the stack of an error', () => {
  const env = {
    INTENDANT_DATABASE_URL: 'postgres://nobody:nothing@127.0.0.1:1/none',
    INTENDANT_NATS_URL: 'nats://127.0.0.1:1',
    INTENDANT_TOOLS_DIR: path.join(root, 'examples', 'tools'),
    INTENDANT_TOKEN_SECRET: 'x'.repeat(32),
    INTENDANT_APPROVAL_SECRET: 'y'.repeat(32),
    DEMO_UPSTREAM_URL: 'http://127.0.0.1:1',
  };
  const { stdout, stderr } = spawnSync(process.execPath, ['--enable-source-maps', main('policy')], { env });
  expect(`${stdout}${stderr}`).toContain(path.join(root, 'libs', 'bus', 'src', 'connect-bus.ts'));
});
