import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Store } from '@intendant/store';
import { createDatabase, type NatsServer, proposal, startNats, type TestDatabase } from '@intendant/testing';
import { ulid } from 'ulid';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commandLine } from '../../apps/cli/src/cli.spec-helper.js';
import { environment, keys, startGateway, type TestGateway } from '../../apps/gateway/src/gateway.spec-helper.js';

const tool = `
apiVersion: intendant/v1
name: orders.get
version: 2
description: Reads.
effect: read
permission: orders:read
input: { type: object, additionalProperties: false, properties: {} }
output: { type: object }
upstream: { http: { baseUrl: "http://127.0.0.1:1", method: GET, path: /orders } }
`;

describe('rules test', () => {
  let nats: NatsServer;
  let database: TestDatabase;
  let gateway: TestGateway;
  let store: Store;
  let cli: ReturnType<typeof commandLine>;

  const reasons = { policy: 'v', rule: null, inputs: {} };
  const record = async (over: Parameters<typeof proposal>[0], ruling: object = { reasons }) => {
    const p = proposal({ tool: 'orders.get', toolVersion: 2, ...over });
    const command = { type: 'record', proposal: p, ruling: { allow: true, ...ruling } } as const;
    await store.door.execute({ intentId: p.intentId, command });
  };
  const openRun = async (tenant: string) => {
    const run = { id: `run_${ulid()}`, tenant, user: 'ada', permissions: [], phase: null, openedBy: 'bot' };
    return (await store.runs.open({ ...run, profile: 'batch' }, 600_000)).id;
  };
  const test = async (...argv: string[]) => {
    const { out } = await cli.run([
      'rules',
      'test',
      'policies',
      '--tools',
      'tools',
      '--since',
      '1h',
      '--json',
      ...argv,
    ]);
    return JSON.parse(out.join());
  };

  beforeAll(async () => {
    [nats, database] = await Promise.all([startNats(), createDatabase()]);
    gateway = await startGateway(environment(database.url, nats.url));
    store = await Store.open({ url: database.url, name: 'spec' });
    cli = commandLine({ INTENDANT_URL: gateway.url, INTENDANT_OPERATOR_KEY: keys.everywhere });
    for (const name of ['tools', 'policies']) mkdirSync(path.join(cli.directory, name));
    writeFileSync(path.join(cli.directory, 'tools', 'get.tool.yaml'), tool);
    const rule = "{ name: small, when: 'args.n < 250 && run.calls < 1000', then: deny, message: Too small. }";
    writeFileSync(
      path.join(cli.directory, 'policies', 'all.policy.yaml'),
      `apiVersion: intendant/policy/v1\nrules: [${rule}]\n`,
    );
  });
  afterAll(async () => {
    await gateway?.close();
    await store?.close();
    await Promise.all([nats?.stop(), database?.drop()]);
    cli?.remove();
  });

  it('reads page after page, and names five intents of each group', async () => {
    const runs = await Promise.all(Array.from({ length: 450 }, () => openRun('paged')));
    await Promise.all(runs.map((runId, n) => record({ tenant: 'paged', runId, args: { n } })));
    const { totals, changes } = await test('--tenant', 'paged');
    expect(totals).toEqual({ decisions: 450, changed: 250, unchanged: 200, notByRules: 0, unknowable: 0 });
    expect(changes).toMatchObject([{ from: 'allow', to: 'deny', rule: 'small', before: null, count: 250 }]);
    expect(changes[0].intents).toHaveLength(5);
    const { out } = await cli.run(['rules', 'test', 'policies', '--tools', 'tools', '--tenant', 'paged']);
    expect(out[1]).toMatch(/^allow → deny {2}small {2}- +250 +(\w{26} ){5}…$/);
  });

  it('says of what it cannot know why', async () => {
    const tenant = 'dark';
    const run = () => openRun(tenant);
    await record({ tenant, runId: await run() }, {});
    await record({ tenant });
    await record({ tenant, runId: await run(), toolVersion: 1 });
    await record({ tenant, runId: await run(), tool: 'orders.gone' });
    await record({ tenant, runId: await run(), args: { s: 'x'.repeat(20_000) } });
    const { totals, unknowable } = await test('--tenant', tenant);
    expect(totals).toEqual({ decisions: 5, changed: 0, unchanged: 0, notByRules: 0, unknowable: 5 });
    expect(unknowable.map(({ why, rule }: { why: string; rule: string | null }) => [why, rule]).toSorted()).toEqual([
      ['arguments_too_long', 'small'],
      ['before_policies', null],
      ['no_run', null],
      ['tool_changed', null],
      ['tool_not_loaded', null],
    ]);
  });
});
