import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { commandLine } from './cli.spec-helper.js';

const tool = `
apiVersion: intendant/v1
name: orders.get
version: 1
description: Reads.
effect: read
permission: orders:read
input: { type: object, additionalProperties: false, properties: {} }
output: { type: object }
upstream: { http: { baseUrl: "http://127.0.0.1:1", method: GET, path: /orders } }
`;
const everybody = `
apiVersion: intendant/policy/v1
default: deny
serviceKeys: { bot: { permissions: ["orders:*"] }, desk: {} }
rules:
  - { name: no-batches, when: session.profile == 'batch', then: deny, message: No batches. }
  - { name: reads, tools: [orders.*], then: allow }
`;
const acme = `
apiVersion: intendant/policy/v1
tenant: acme
rules: [{ name: acme-many, when: run.calls > 9, then: require_approval, message: Many. }]
`;

describe('rules lint', () => {
  let line: ReturnType<typeof commandLine>;
  const start = (env: Record<string, string> = {}, policies: Record<string, string> = { everybody, acme }) => {
    line = commandLine(env);
    const write = (folder: string, kind: string, files: Record<string, string>) => {
      mkdirSync(path.join(line.directory, folder));
      for (const [name, text] of Object.entries(files)) {
        writeFileSync(path.join(line.directory, folder, `${name}.${kind}.yaml`), text);
      }
    };
    write('tools', 'tool', { get: tool });
    write('policies', 'policy', policies);
    return line;
  };
  afterEach(() => line.remove());

  it('shows how many rules of each kind there are for whom, and which version they make', async () => {
    expect(await start().run(['rules', 'lint', 'policies', '--tools', 'tools'])).toEqual({
      status: 0,
      out: [
        'FOR          DENY  REQUIRE_APPROVAL  ALLOW  SERVICE KEYS',
        'everybody    1     0                 1      bot, desk',
        'tenant acme  0     1                 0      -',
        expect.stringMatching(/^2 files, no problems; what no rule matches: deny; version [0-9a-f]{16}$/),
      ],
      err: [],
    });
  });

  it('says the same as JSON', async () => {
    const { out } = await start().run(['rules', 'lint', 'policies', '--tools', 'tools', '--json']);
    expect(JSON.parse(out.join())).toEqual({
      version: expect.stringMatching(/^[0-9a-f]{16}$/),
      default: 'deny',
      files: [
        {
          tenant: null,
          rules: [
            { name: 'no-batches', then: 'deny', tools: null, usesRun: false },
            { name: 'reads', then: 'allow', tools: ['orders.*'], usesRun: false },
          ],
          serviceKeys: ['bot', 'desk'],
          ratePerTenant: null,
        },
        {
          tenant: 'acme',
          rules: [{ name: 'acme-many', then: 'require_approval', tools: null, usesRun: true }],
          serviceKeys: [],
          ratePerTenant: null,
        },
      ],
      problems: [],
    });
  });

  it('names every mistake with file, line and field', async () => {
    const wrong = acme.replace('run.calls', 'run.cals');
    const { status, out } = await start({}, { everybody: everybody.replace('orders.*', 'order.*'), wrong }).run([
      ...['rules', 'lint', 'policies', '--tools', 'tools'],
    ]);
    expect([status, out]).toEqual([
      1,
      [
        expect.stringMatching(/everybody\.policy\.yaml:7 rules\.1\.tools\.0: .*did you mean orders\.\*\?$/),
        expect.stringMatching(/wrong\.policy\.yaml:4 rules\.0\.when: .*did you mean run\.calls\?/),
      ],
    ]);
    const json = await line.run(['rules', 'lint', 'policies', '--tools', 'tools', '--json']);
    expect([json.status, JSON.parse(json.out.join())]).toMatchObject([
      1,
      { version: null, problems: [{ line: 7 }, {}] },
    ]);
  });

  it('takes the folders from the environment, or from what a running stack left behind', async () => {
    const env = { INTENDANT_POLICY_DIR: 'policies', INTENDANT_TOOLS_DIR: 'tools' };
    expect((await start(env).run(['rules', 'lint'])).status).toBe(0);
    line.remove();
    start();
    mkdirSync(path.join(line.directory, '.intendant'));
    const folders = { toolsDir: path.join(line.directory, 'tools'), policyDir: path.join(line.directory, 'policies') };
    writeFileSync(path.join(line.directory, '.intendant', 'run.json'), JSON.stringify(folders));
    expect((await line.run(['rules', 'lint'])).out.at(-1)).toMatch(/^2 files/);
    expect((await line.run(['rules', 'lint', 'nowhere'])).status).toBe(1);
  });

  it('is wrong usage where it is not said which folders are meant', async () => {
    expect(await start().run(['rules', 'lint', 'policies'])).toMatchObject({
      status: 2,
      err: [expect.stringContaining('--tools or INTENDANT_TOOLS_DIR')],
    });
    expect(await line.run(['rules', 'lint', '--tools', 'tools'])).toMatchObject({
      status: 2,
      err: [expect.stringContaining('INTENDANT_POLICY_DIR')],
    });
    expect((await line.run(['rules', 'test'])).status).toBe(2);
  });
});
