import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { commandLine } from './cli.spec-helper.js';

const tool = (name: string, effect: string) => `
apiVersion: intendant/v1
name: ${name}
version: 1
description: Read an order. Do not use it to search.
${effect}
permission: orders:read
input: { type: object, additionalProperties: false, required: [id], properties: { id: { type: string } } }
output: { type: object }
upstream:
  http: { baseUrl: "\${ORDERS_URL}", method: GET, path: "/orders/{{args.id}}" }
`;

describe('the command line', () => {
  const lines: ReturnType<typeof commandLine>[] = [];
  const cli = (env: Record<string, string> = {}) => {
    const line = commandLine(env);
    lines.push(line);
    return line;
  };
  afterEach(() => {
    for (const line of lines.splice(0)) line.remove();
  });

  it.each([
    ['an unknown command', ['intent', 'list'], /unknown command 'intent'/],
    ['an unknown option', ['intents', 'list', '--sate', 'x'], /Did you mean --state/],
    ['a missing argument', ['intents', 'show'], /missing required argument 'intent'/],
    ['a missing option', ['run', 'open'], /required option '--user <user>'/],
    [
      'an illegal choice',
      ['intents', 'resolve', 'x', '--outcome', 'maybe', '--evidence', 'e'],
      /Allowed choices are executed, not_executed/,
    ],
    ['arguments that are not JSON', ['submit', 'a.b', '{', '--token', 't'], /the arguments are not JSON/],
    ['a limit out of range', ['intents', 'list', '--limit', '0'], /--limit.*whole number from 1 to 200/],
    ['a limit that is no number', ['dead-letters', 'list', '--limit', 'abc'], /--limit.*whole number from 1 to 200/],
    ['a wait that is no number', ['submit', 'a.b', '--wait', 'abc'], /--wait.*whole number from 0 to 30/],
    ['a number of calls that is none', ['run', 'open', '--user', 'a', '--calls', '-1'], /--calls.*whole number from 0/],
    ['half a call', ['run', 'open', '--user', 'a', '--mutating', '1.5'], /--mutating.*whole number from 0/],
    [
      'a number too large',
      ['run', 'open', '--user', 'a', '--destructive', '1e3'],
      /--destructive.*whole number from 0/,
    ],
    ['a cost that is none', ['run', 'open', '--user', 'a', '--cost', 'NaN'], /--cost.*at most 6 decimals/],
    ['a cost too fine', ['run', 'open', '--user', 'a', '--cost', '0.0000001'], /--cost.*at most 6 decimals/],
    ['a time that is none', ['run', 'open', '--user', 'a', '--wall-clock', 'soon'], /--wall-clock.*PT30M, 2h or 3600/],
    ['a time too long', ['run', 'open', '--user', 'a', '--wall-clock', '25h'], /--wall-clock.*at most 24h/],
    [
      'restrictions that are nowhere',
      ['run', 'open', '--user', 'a', '--service-key', 'k', '--restrict-file', 'nowhere.json'],
      /--restrict-file .*nowhere.json is not a JSON file/,
    ],
    ['no phase', ['run', 'phase', 'run_1'], /say which phase, or --none, and not both/],
    ['a phase and none', ['run', 'phase', 'run_1', 'resolve', '--none'], /say which phase, or --none, and not both/],
    ['a dismissal without a reason', ['dead-letters', 'dismiss', 'x'], /required option '--reason <text>'/],
    ['a pause of nothing', ['pause', '--reason', 'x'], /say what: --tool, .*, or --all for everything/],
    [
      'a pause of a part and of everything',
      ['pause', '--all', '--tool', 'a.b', '--reason', 'x'],
      /cannot be used with/,
    ],
    ['a grant without an end', ['grants', 'give', 'a.b', '--uses', '1', '--reason', 'x'], /required option '--for/],
    ['a grant of nothing', ['grants', 'give', 'a.b', '--uses', '0'], /--uses.*whole number from 1 to 10000/],
    ['a total that is none', ['grants', 'give', 'a.b', '--uses', '1', '--total', '-1'], /--total.*at most 6 decimals/],
    ['a command without its verb', ['intents'], /Usage: intendant intents/],
  ])('tells %s as wrong usage, with status 2', async (_, argv, message) => {
    const { status, out, err } = await cli().run(argv);
    expect([status, out]).toEqual([2, []]);
    expect(err.join('\n')).toMatch(message);
    expect(err.join('\n')).not.toMatch(/\n\s+at \S/);
  });

  it('shows its help with status 0', async () => {
    const { status, out } = await cli().run(['--help']);
    expect(status).toBe(0);
    expect(out.join('\n')).toMatch(/dead-letters[\s\S]*reconcile[\s\S]*tools/);
  });

  it('prints its version', async () => {
    expect(await cli().run(['--version'])).toEqual({ status: 0, out: ['1.2.3'], err: [] });
  });

  it('says which credential is missing and where it may come from', async () => {
    const { status, err } = await cli().run(['intents', 'list']);
    expect([status, err]).toEqual([
      1,
      ['error: This needs an operator key: give --operator-key or INTENDANT_OPERATOR_KEY.'],
    ]);
  });

  it('says that no gateway answers', async () => {
    const { status, err } = await cli().run(['intents', 'list', '--operator-key', 'k', '--url', 'http://127.0.0.1:1']);
    expect(status).toBe(1);
    expect(err.join()).toMatch(/No gateway answers at http:\/\/127.0.0.1:1/);
  });

  it('checks one tool file', async () => {
    const line = cli({ ORDERS_URL: 'http://127.0.0.1:1' });
    writeFileSync(path.join(line.directory, 'get.tool.yaml'), tool('orders.get', 'effect: read'));
    expect(await line.run(['tools', 'lint', 'get.tool.yaml'])).toEqual({
      status: 0,
      out: [
        'orders.get  read',
        '  WINDOW       VALUE  BASIS     HOLDS',
        '  lease        15 s   computed  must be longer than connect 2 s + call 10 s + clock margin 1 s = 13 s',
        '  longest run  24 h   chosen    must be at least lease = 15 s',
        '',
        '1 tool, no problems',
      ],
      err: [],
    });
  });

  it('shows how each window of a tool is known, and what the file says more than can be relied upon', async () => {
    const line = cli({ ORDERS_URL: 'http://127.0.0.1:1' });
    const text = tool('orders.cancel', 'effect: write')
      .replace('method: GET', 'method: POST')
      .replace(
        /$/,
        '  guarantee: idempotency_key\n  keyRetention: { value: PT24H, basis: assumed }\n  maxProcessing: { value: 3s, basis: measured }\n',
      );
    writeFileSync(path.join(line.directory, 'cancel.tool.yaml'), text);
    const { out } = await line.run(['tools', 'lint', 'cancel.tool.yaml']);
    expect(out).toContain('orders.cancel  write, guarantee none, lookup none');
    expect(out).toContain(
      '  note: keyRetention (24 h) is assumed and counts as zero: the guarantee relied upon is none, not idempotency_key',
    );
    const [json] = (await line.run(['tools', 'lint', 'cancel.tool.yaml', '--json'])).out;
    expect(JSON.parse(String(json))).toEqual({
      tools: [
        {
          name: 'orders.cancel',
          file: path.join(line.directory, 'cancel.tool.yaml'),
          guarantee: 'none',
          lookup: 'none',
          windows: expect.arrayContaining([
            {
              name: 'settle',
              ms: 4_000,
              basis: 'computed',
              requirement: 'must be at least maxProcessing 3 s + lookup.lag 0 ms + margin 100 ms = 3.1 s',
            },
          ]),
          notes: [expect.stringContaining('counts as zero')],
        },
      ],
      problems: [],
    });
  });

  it('notes what makes it hard for a model to choose a tool, which is no mistake', async () => {
    const line = cli({ ORDERS_URL: 'http://127.0.0.1:1' });
    const directory = path.join(line.directory, 'tools');
    mkdirSync(directory);
    writeFileSync(path.join(directory, 'a.tool.yaml'), tool('orders.get', 'effect: read'));
    writeFileSync(
      path.join(directory, 'b.tool.yaml'),
      tool('orders.data', 'effect: read').replace('Do not use it', 'Use it'),
    );
    const { status, out } = await line.run(['tools', 'lint', 'tools']);
    expect([status, out.at(-1)]).toEqual([0, '2 tools, no problems']);
    expect(out.filter((text) => text.startsWith('  note: '))).toEqual([
      '  note: the description is almost that of orders.data: say in both what tells them apart, or make them one tool',
      '  note: the name ends with data, which is no verb known here; better orders.data.get, .list, .create, .update or so',
      '  note: the description does not say when not to use the tool; add such a sentence ("Do not use it to …")',
      '  note: the description is almost that of orders.get: say in both what tells them apart, or make them one tool',
    ]);
  });

  it('shows what tools cost the context of a model, the dearest first', async () => {
    const line = cli({ ORDERS_URL: 'http://127.0.0.1:1', INTENDANT_TOOLS_DIR: 'tools' });
    const directory = path.join(line.directory, 'tools');
    mkdirSync(directory);
    writeFileSync(path.join(directory, 'a.tool.yaml'), tool('orders.get', 'effect: read'));
    writeFileSync(
      path.join(directory, 'b.tool.yaml'),
      tool('mail.folders.list', 'effect: read').replace('Read an', 'Read é an'),
    );
    const { status, out } = await line.run(['tools', 'schema', '--cost']);
    expect(status).toBe(0);
    const rows = out.map((line) => line.split(/ {2,}/));
    expect(rows[0]).toEqual(['TOOL', 'MCP', 'TOKENS', 'HTTP']);
    expect(rows.slice(5, 7).map(([name, , , http]) => [name, http])).toEqual([
      ['mail.folders.list', '283'],
      ['orders.get', '273'],
    ]);
    expect(rows.slice(8, 12).map(([name, tools, , , http]) => [name, tools, http])).toEqual([
      ['NAMESPACE', 'TOOLS', 'HTTP'],
      ['intendant', '4', '0'],
      ['mail', '1', '283'],
      ['orders', '1', '273'],
    ]);
    expect(out.at(-1)).toMatch(/^Tokens: of MCP, about one for 4 bytes\. With \/mcp\?tools=search: ~\d+ in all\.$/);
    const [json = ''] = (await line.run(['tools', 'schema', 'tools/a.tool.yaml', '--cost', '--json'])).out;
    expect(JSON.parse(json).total).toMatchObject({ name: 'total', tools: 5, http: { bytes: 273, tokens: 69 } });
    writeFileSync(path.join(directory, 'a.tool.yaml'), tool('orders.get', 'effect: reed'));
    expect(await line.run(['tools', 'schema', '--cost'])).toMatchObject({
      status: 1,
      out: [expect.stringMatching(/a\.tool\.yaml:6 effect: /)],
    });
  });

  it('prints the schema of tool files for editors', async () => {
    const { status, out } = await cli().run(['tools', 'schema']);
    expect([status, JSON.parse(out.join()).title]).toEqual([0, 'a tool file']);
    expect((await cli().run(['tools', 'schema', 'tools'])).status).toBe(2);
    expect((await cli().run(['tools', 'schema', '--cost'])).status).toBe(2);
  });

  it('names every problem of every tool file with file, line and field', async () => {
    const line = cli({ ORDERS_URL: 'http://127.0.0.1:1' });
    const directory = path.join(line.directory, 'tools');
    mkdirSync(directory);
    writeFileSync(path.join(directory, 'a.tool.yaml'), tool('orders.get', 'effect: reed'));
    writeFileSync(path.join(directory, 'b.tool.yaml'), tool('orders.list', 'colour: red'));
    const { status, out } = await line.run(['tools', 'lint', 'tools']);
    expect(status).toBe(1);
    expect(out.join('\n')).toMatch(/a\.tool\.yaml:6 effect: .+[\s\S]*b\.tool\.yaml:\d+ (effect|colour): /);
    const { problems } = JSON.parse((await line.run(['tools', 'lint', 'tools', '--json'])).out.join());
    expect(problems).toContainEqual({
      file: expect.stringContaining('a.tool.yaml'),
      line: 6,
      field: 'effect',
      message: expect.any(String),
    });
    expect((await line.run(['tools', 'lint', 'nowhere'])).status).toBe(1);
  });

  it('runs the reconciler itself, with what a running stack left behind, and passes its output and status on', async () => {
    const line = cli({ INTENDANT_URL: 'http://127.0.0.1:1', INTENDANT_NATS_URL: 'nats://mine' });
    mkdirSync(path.join(line.directory, '.intendant'));
    const kept = { databaseUrl: 'postgres://kept', natsUrl: 'nats://kept', toolsDir: '/tools', egressPrivate: '::1' };
    writeFileSync(path.join(line.directory, '.intendant', 'run.json'), JSON.stringify(kept));
    expect(await line.run(['reconcile', '--once'])).toMatchObject({
      status: 1,
      err: [expect.stringContaining('not built')],
    });
    writeFileSync(
      line.reconciler,
      `const ours = Object.entries(process.env).filter(([name]) => name.startsWith('INTENDANT_'));
       console.log(JSON.stringify([process.argv.slice(2), Object.fromEntries(ours)]));
       console.error('as it says');
       process.exitCode = 3;`,
    );
    const { status, out, err } = await line.run(['reconcile', '--once']);
    expect([status, err]).toEqual([1, ['as it says']]);
    expect(JSON.parse(out.join())).toEqual([
      ['--once'],
      {
        INTENDANT_DATABASE_URL: 'postgres://kept',
        INTENDANT_NATS_URL: 'nats://mine',
        INTENDANT_TOOLS_DIR: '/tools',
        INTENDANT_EGRESS_PRIVATE: '::1',
      },
    ]);
  });
});
