import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { describeMachine } from './faults-machine.mjs';
import { versionAs } from './postgres-account.mjs';
import { readSettings } from './settings.mjs';

let stateDir;
beforeEach(() => {
  stateDir = fs.mkdtempSync(path.join(os.tmpdir(), 'faults-machine-'));
});
afterEach(() => fs.rmSync(stateDir, { recursive: true }));

/** With a nats-server that only tells its version, since another one would have to be downloaded. */
const machineWith = async (settings) => {
  const old = path.join(stateDir, 'nats-server');
  fs.writeFileSync(old, '#!/bin/sh\necho nats-server: v2.9.10\n', { mode: 0o755 });
  return describeMachine({ stateDir, settings: { ...readSettings(), INTENDANT_OLD_NATS_BIN: old, ...settings } });
};

it('tells the rig what it needs: binaries that run, an account that may run them, and where to keep things', async () => {
  const machine = await machineWith({});
  expect(machine).toMatchObject({ oldNats: path.join(stateDir, 'nats-server'), stateDir });
  expect(versionAs(machine.postgresAccount, path.join(machine.postgresBin, 'postgres'))).toBeDefined();
  expect(fs.existsSync(machine.postgresHome)).toBe(true);
  expect(fs.existsSync(machine.nats)).toBe(true);
  if (process.getuid() === 0) expect(machine.postgresAccount.uid).toBeGreaterThan(0);
  else expect(machine.postgresAccount).toBeNull();
  expect(JSON.parse(JSON.stringify(machine))).toEqual(machine);
});

it('refuses an old nats-server that is named and does not run', async () => {
  await expect(machineWith({ INTENDANT_OLD_NATS_BIN: '/nonexistent' })).rejects.toThrow(
    /INTENDANT_OLD_NATS_BIN.*does not run/,
  );
});

it('removes the data of servers that a killed rig left, and keeps the template', async () => {
  const { postgresHome } = await machineWith({});
  for (const name of ['data-1', 'template-1']) fs.mkdirSync(path.join(postgresHome, name));
  await machineWith({});
  expect(fs.readdirSync(postgresHome)).toEqual(['template-1']);
});
