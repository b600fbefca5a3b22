import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { createDatabase, type NatsServer, startNats, type TestDatabase } from '@intendant/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runService } from './run-service.js';

const ownTools = path.join(path.dirname(fileURLToPath(import.meta.url)), 'tools');
let database: TestDatabase;
let nats: NatsServer;
let tools: string;

beforeAll(async () => {
  [database, nats, tools] = await Promise.all([
    createDatabase(),
    startNats(),
    mkdtemp(path.join(os.tmpdir(), 'intendant-tools-')),
  ]);
});
afterAll(async () => {
  await Promise.all([database.drop(), nats.stop(), rm(tools, { recursive: true })]);
});

/** What a start that cannot work says; anything but exit status 1 and one plain message fails the test. */
async function refusal(name: string, changes: Readonly<Record<string, string>>): Promise<string> {
  const { how, stdout, stderr } = await runService(name, {
    INTENDANT_DATABASE_URL: database.url,
    INTENDANT_NATS_URL: nats.url,
    INTENDANT_TOOLS_DIR: ownTools,
    INTENDANT_TOKEN_SECRET: 'token-secret-of-the-flow-tests-0123456789',
    INTENDANT_APPROVAL_SECRET: 'approval-secret-of-the-flow-tests-0123456789',
    INTENDANT_HTTP_PORT: '0',
    INTENDANT_EGRESS_PRIVATE: '127.0.0.0/8',
    DEMO_UPSTREAM_URL: 'http://127.0.0.1:9',
    SECOND_UPSTREAM_URL: 'http://127.0.0.1:9',
    ...changes,
  });
  expect(how, stdout + stderr).toBe(1);
  expect(stderr.match(/cannot start: /g), stderr).toHaveLength(1);
  expect(stderr).toMatch(new RegExp(`^${name} cannot start: `));
  expect(stderr).not.toMatch(/^\s+at /m);
  return stderr;
}

/** A port that nobody listens on: it was free a moment ago. */
async function silentPort(): Promise<number> {
  const server = net.createServer().listen(0, '127.0.0.1');
  await new Promise((listening) => server.once('listening', listening));
  const { port } = server.address() as net.AddressInfo;
  await new Promise((closed) => server.close(closed));
  return port;
}

const withPort = (url: string, port: number) => Object.assign(new URL(url), { port: String(port) }).href;

describe('a service that cannot start says why, what to do, and ends with 1', () => {
  test('when no database answers', async () => {
    const port = await silentPort();
    const said = await refusal('outbox-relay', { INTENDANT_DATABASE_URL: withPort(database.url, port) });
    expect(said).toContain(`no database answers at 127.0.0.1:${port}`);
    expect(said).toContain('check INTENDANT_DATABASE_URL');
  });

  test('when the database refuses the password, without showing it', async () => {
    const url = Object.assign(new URL(database.url), { password: 'not-the-password' }).href;
    const said = await refusal('policy', { INTENDANT_DATABASE_URL: url });
    expect(said).toContain('refused the user or the password');
    expect(said).not.toContain('not-the-password');
  });

  test('when the database does not exist', async () => {
    const url = Object.assign(new URL(database.url), { pathname: '/nowhere' }).href;
    expect(await refusal('dispatcher', { INTENDANT_DATABASE_URL: url })).toContain('has no such database');
  });

  test('when the database is newer than the code', async () => {
    await database.query("INSERT INTO migrations (timestamp, name) VALUES (99, 'FromTheFuture99')");
    try {
      const said = await refusal('reconciler', {});
      expect(said).toContain('the database is newer than this code: it has FromTheFuture99');
    } finally {
      await database.query("DELETE FROM migrations WHERE name = 'FromTheFuture99'");
    }
  });

  test('when the migrations have not been run', async () => {
    await database.query('CREATE TABLE kept AS TABLE migrations');
    await database.query('DELETE FROM migrations');
    try {
      const said = await refusal('outbox-relay', {});
      expect(said).toContain('the database lacks EventLog1764460800000');
      expect(said).toContain('node dist/migrations/main.js');
    } finally {
      await database.query('INSERT INTO migrations SELECT * FROM kept');
    }
  });

  test('when a policy file has mistakes, each with its line and what would be right', async () => {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'intendant-policy-'));
    const rule = (name: string, when: string) => `  - { name: ${name}, when: "${when}", then: deny, message: x }\n`;
    await writeFile(
      path.join(folder, 'a.policy.yaml'),
      `apiVersion: intendant/policy/v1\nrules:\n${rule('one', 'args.amount >')}${rule('two', 'sesion.user == 1')}  - { name: three, tools: [effects.keyd], then: deny, message: x }\n`,
    );
    try {
      const said = await refusal('policy', { INTENDANT_POLICY_DIR: folder });
      expect(said).toMatch(/a\.policy\.yaml:3 rules\.0\.when/);
      expect(said).toMatch(/a\.policy\.yaml:4 rules\.1\.when.*session/);
      expect(said).toMatch(/a\.policy\.yaml:5 rules\.2\.tools\.0.*did you mean effects\.keyed\?/);
      expect(await refusal('policy', { INTENDANT_POLICY_DIR: path.join(folder, 'nowhere') })).toContain('nowhere');
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test('when NATS cannot be reached', async () => {
    const port = await silentPort();
    const said = await refusal('dispatcher', { INTENDANT_NATS_URL: `nats://user:s3cret@127.0.0.1:${port}` });
    expect(said).toContain(`NATS at nats://127.0.0.1:${port} cannot be reached`);
    expect(said).not.toContain('s3cret');
  });

  test('when NATS runs without JetStream', async () => {
    const plain = await startNats({ jetStream: false });
    try {
      const said = await refusal('outbox-relay', { INTENDANT_NATS_URL: plain.url });
      expect(said).toContain('runs without JetStream');
      expect(said).toContain('-js');
    } finally {
      await plain.stop();
    }
  });

  test('when a setting is misspelt, with the name that was meant', async () => {
    const said = await refusal('policy', { INTENDANT_TOOL_DIR: 'examples/tools' });
    expect(said).toContain('INTENDANT_TOOL_DIR is not known; did you mean INTENDANT_TOOLS_DIR?');
  });

  test('when a setting is missing, with an example', async () => {
    const said = await refusal('policy', { INTENDANT_TOKEN_SECRET: '' });
    expect(said).toContain('INTENDANT_TOKEN_SECRET is not set; for example');
  });

  test('when its port is in use', async () => {
    const other = net.createServer().listen(0, '127.0.0.1');
    await new Promise((listening) => other.once('listening', listening));
    const { port } = other.address() as net.AddressInfo;
    try {
      const said = await refusal('outbox-relay', { INTENDANT_HTTP_PORT: String(port) });
      expect(said).toContain(`port ${port} on 127.0.0.1 is in use`);
      expect(said).toContain('INTENDANT_HTTP_PORT');
    } finally {
      other.close();
    }
  });

  test('when a tool file has a mistake, with its file and line', async () => {
    const source = await readFile(path.join(ownTools, 'effects.keyed.tool.yaml'), 'utf8');
    const file = path.join(tools, 'broken.tool.yaml');
    await writeFile(file, source.replace('effect: destructive', 'efect: destructive'));
    try {
      const said = await refusal('dispatcher', { INTENDANT_TOOLS_DIR: tools });
      expect(said).toMatch(/broken\.tool\.yaml:\d+/);
      expect(said).toContain('efect');
    } finally {
      await rm(file);
    }
  });

  test.each(['dispatcher', 'reconciler', 'standalone'])(
    'when a tool of the %s has an upstream that must not be called, or a credential that is not there',
    async (name) => {
      const source = await readFile(path.join(ownTools, 'effects.keyed.tool.yaml'), 'utf8');
      const file = path.join(tools, 'misfit.tool.yaml');
      await writeFile(file, source.replace('path: /effects/keyed,', 'path: /effects/keyed, credential: nobody,'));
      try {
        const said = await refusal(name, { INTENDANT_TOOLS_DIR: tools, INTENDANT_EGRESS_PRIVATE: '' });
        expect(said).toMatch(/misfit\.tool\.yaml:\d+ upstream\.http\.baseUrl: 127\.0\.0\.1 must not be called/);
        expect(said).toMatch(/misfit\.tool\.yaml:\d+ upstream\.http\.credential: not in INTENDANT_CREDENTIALS/);
      } finally {
        await rm(file);
      }
    },
  );

  test('when the credentials or the hosts have a mistake, without showing a secret', async () => {
    const credentials = 'payments: { beerer: planted-secret }';
    const said = await refusal('dispatcher', { INTENDANT_CREDENTIALS: credentials });
    expect(said).toContain('INTENDANT_CREDENTIALS payments: has no kind of credential');
    expect(said).not.toContain('planted');
    expect(await refusal('reconciler', { INTENDANT_EGRESS_HOSTS: 'https://a.example' })).toContain(
      'INTENDANT_EGRESS_HOSTS: "https://a.example" is not a host; must be a host such as api.example.com',
    );
  });

  test('when a tool changes its contract under the same version', async () => {
    const file = path.join(tools, 'changing.tool.yaml');
    const source = (await readFile(path.join(ownTools, 'effects.keyed.tool.yaml'), 'utf8')).replace(
      'name: effects.keyed',
      'name: effects.changing',
    );
    await writeFile(file, source);
    const port = await silentPort();
    // The first start learns the contract and then ends for another reason.
    const other = net.createServer().listen(port, '127.0.0.1');
    await refusal('policy', { INTENDANT_TOOLS_DIR: tools, INTENDANT_HTTP_PORT: String(port) });
    other.close();

    await writeFile(file, source.replace('amount: { type: integer }', 'amount: { type: string }'));
    const said = await refusal('policy', { INTENDANT_TOOLS_DIR: tools });
    expect(said).toContain('changing.tool.yaml');
    expect(said).toContain('effects.changing');
    expect(said).toMatch(/version/);
  });
});
