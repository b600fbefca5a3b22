import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { planDatabase } from './database-plan.mjs';
import { checkNodeVersion } from './node-version.mjs';
import { forServices, readSettings } from './settings.mjs';

const credentials = { appPassword: 'made-here' };

describe('settings', () => {
  it('come from the file that a _FILE name points to', () => {
    const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'settings-'));
    const file = path.join(directory, 'secret');
    fs.writeFileSync(file, 'from the file\n');
    const settings = readSettings({ INTENDANT_TOKEN_SECRET_FILE: file, OTHER_FILE: '/x' });
    fs.rmSync(directory, { recursive: true });
    expect(settings).toEqual({ INTENDANT_TOKEN_SECRET: 'from the file', OTHER_FILE: '/x' });
  });

  it('leave the file of the credentials to the services, which read it again when it changes', () => {
    const given = { INTENDANT_CREDENTIALS_FILE: '/run/secrets/upstreams.yaml' };
    expect(forServices(readSettings(given))).toEqual(given);
  });

  it('name the variable whose file cannot be read', () => {
    expect(() => readSettings({ INTENDANT_NATS_URL_FILE: '/nonexistent' })).toThrow(/INTENDANT_NATS_URL_FILE/);
  });

  it('that only the launcher knows are kept from the services', () => {
    const given = {
      INTENDANT_PG_BIN: 'x',
      INTENDANT_TEST_DATABASE_URL: 'x',
      INTENDANT_LOG_LEVEL: 'debug',
      PATH: '/bin',
    };
    expect(forServices(given)).toEqual({ INTENDANT_LOG_LEVEL: 'debug', PATH: '/bin' });
  });
});

describe('the accounts of the database', () => {
  const owner = 'postgres://owner:secret@db.test:5433/agents?sslmode=require';

  it('are the owner for migrations and the restricted role for services', () => {
    expect(planDatabase({ settings: { INTENDANT_DATABASE_URL: owner }, credentials })).toEqual({
      ownerUrl: owner,
      appUrl: 'postgres://intendant_app_agents:made-here@db.test:5433/agents?sslmode=require',
      appRole: 'intendant_app_agents',
      appPassword: 'made-here',
    });
  });

  it('are the given ones when both are given', () => {
    const app = 'postgres://someone:else@db.test/agents';
    const settings = { INTENDANT_DATABASE_URL: app, INTENDANT_MIGRATION_DATABASE_URL: owner };
    expect(planDatabase({ settings, credentials })).toEqual({
      ownerUrl: owner,
      appUrl: app,
      appRole: 'someone',
      appPassword: undefined,
    });
  });
});

describe('the version of Node', () => {
  it.each(['18.20.0', '20.18.3'])('%s is refused', (version) => {
    expect(() => checkNodeVersion(version, 'linux')).toThrow(/20\.19 or later/);
  });

  it.each(['20.19.0', '20.20.2', '22.0.0', '24.1.0'])('%s is accepted', (version) => {
    expect(() => checkNodeVersion(version, 'linux')).not.toThrow();
  });
});
