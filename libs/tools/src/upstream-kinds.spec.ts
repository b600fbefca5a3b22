import { describe, expect, test } from 'vitest';
import { type Kind, mistakesOf, toolOf, upstreams } from './upstream-kinds.spec-helper.js';

const kinds = Object.keys(upstreams) as Kind[];

describe.each(kinds)('a tool of the kind %s', (kind) => {
  test('may have rules, a lookup, a poll and a sandbox', () => {
    const tool = toolOf(kind);
    expect(tool.upstream).toMatchObject({ kind, lookup: expect.anything(), poll: expect.anything() });
    expect(tool.sandbox).toMatchObject({ kind });
    expect(tool.sandbox).not.toEqual(tool.upstream);
    expect(tool.terms).toMatchObject({ lookup: 'authoritative', poll: { everyMs: expect.any(Number) } });
  });
});

test('the sandbox differs only in what it says', () => {
  const { upstream, sandbox } = toolOf('http', ['POST, path', 'POST, credential: payments, path']);
  expect(sandbox).toEqual({ ...upstream, baseUrl: 'https://test.example', name: 'test.example (sandbox)' });
});

test('the sandbox of an upstream, named or not, fails and slows down by itself', () => {
  const namesOf = (...args: Parameters<typeof toolOf>) => {
    const { upstream, sandbox } = toolOf(...args);
    return [upstream.name, sandbox?.name];
  };
  expect(namesOf('http', ['  guarantee:', '  name: payments\n  guarantee:'])).toEqual([
    'payments',
    'payments (sandbox)',
  ]);
  expect(namesOf('process')).toEqual(['process refund', 'process refund (sandbox)']);
});

test('without a name a program is known by itself alone: its arguments may hold secrets', () => {
  expect(toolOf('process', ['refund, "--key', 'refund, --token=s3cret, "--key']).upstream.name).toBe('process refund');
  const [from, to] = [
    'url: "https://real.example/mcp?v=1", headers: { X-Team: agents }',
    'command: [refunds, --token=s3cret], env: { A: b }',
  ];
  const tool = toolOf('mcp', [from, to], ['url: "https://test.example/mcp"', 'env: { A: c }']);
  expect([tool.upstream.name, tool.sandbox?.name]).toEqual(['mcp refunds', 'mcp refunds (sandbox)']);
});

test('relative paths start at the folder of the tool file', () => {
  expect(toolOf('module')).toMatchObject({
    upstream: { path: '/tools/refund.ts' },
    sandbox: { path: '/tools/refund-sandbox.ts' },
  });
  expect(toolOf('process').upstream).toMatchObject({ cwd: '/tools' });
});

type Edit = readonly [from: string, to: string];
describe('a mistake in the upstream is named', () => {
  test.each<[what: string, kind: Kind, edits: Edit[], mistake: unknown]>([
    [
      'two kinds',
      'http',
      [['  sandbox:', '  module: { file: a.ts }\n  sandbox:']],
      'upstream: has http and module; must have exactly one of http, mcp, process, module',
    ],
    [
      'a field of another kind in a lookup',
      'http',
      [['present:', 'argv: [find], present:']],
      'upstream.lookup.argv: means nothing for the lookup of an upstream of kind http; known here: path, present, method, headers, receipt, count, parts, absent, authoritative, lag, spacing, deadline',
    ],
    [
      'a lookup that does not say where',
      'http',
      [['path: "/refunds?key={{key}}", ', '']],
      'upstream.lookup.path: missing; the lookup of an upstream of kind http must have it',
    ],
    [
      'a lookup that cannot tell presence',
      'process',
      [['present: $count(data) > 0, ', '']],
      'upstream.lookup.present: missing; the lookup of an upstream of kind process must have it',
    ],
    [
      'a poll that never fails',
      'mcp',
      [[`, failed: "state = 'failed'"`, '']],
      'upstream.poll.failed: missing; the poll of an upstream of kind mcp must have it',
    ],
    [
      'a reading of a module',
      'module',
      [['lag: 1s', 'present: "true"']],
      "upstream.lookup.present: means nothing for the lookup of an upstream of kind module; the module's own function answers",
    ],
    [
      'statuses of an MCP lookup',
      'mcp',
      [['authoritative: true', 'authoritative: true, absent: [404]']],
      expect.stringMatching(/^upstream\.lookup\.absent: means nothing for the lookup of an upstream of kind mcp/),
    ],
    [
      'an absence that is no HTTP status',
      'http',
      [['authoritative: true', 'authoritative: true, absent: [3]']],
      'upstream.lookup.absent.0: is the number 3; must be an HTTP status from 400 to 499',
    ],
    [
      'an absence that is no exit status',
      'process',
      [['absent: [1, 255]', 'absent: [1, 404]']],
      'upstream.lookup.absent.1: is the number 404; must be an exit status from 1 to 255',
    ],
    [
      'a receipt where nothing was executed',
      'http',
      [['means: executed, receipt', 'means: not_executed, receipt']],
      'upstream.outcomes.0.receipt: means nothing for not_executed; remove it, or say executed',
    ],
    [
      'a variable of another kind in a rule',
      'process',
      [['$exit = 4', '$status = 4']],
      expect.stringMatching(
        /^upstream\.outcomes\.0\.when: \$status is neither .* \(\$data, \$exit, \$stderr, \$text\)/,
      ),
    ],
    [
      'rules of a module',
      'module',
      [['  guarantee:', '  outcomes: []\n  guarantee:']],
      'upstream.outcomes: means nothing for a module, which says itself what happened; remove it',
    ],
    [
      'HTTP statuses of a process',
      'process',
      [['  guarantee:', '  statuses: { 409: unknown }\n  guarantee:']],
      'upstream.statuses: means nothing for an upstream of kind process; use upstream.process.exits',
    ],
    [
      'what the upstream accepted, in a lookup',
      'http',
      [['?key={{key}}', '?id={{accepted.id}}']],
      'upstream.lookup.path: {{accepted.id}} is only known to upstream.poll; remove it',
    ],
    [
      'what the upstream accepted, too deep',
      'http',
      [['{{accepted.id}}', '{{accepted.job.id}}']],
      'upstream.poll.path: {{accepted.job.id}} is too deep; must be one field of the answer, such as {{accepted.id}}',
    ],
    [
      'an unknown name in a poll',
      'http',
      [['{{accepted.id}}', '{{job}}']],
      'upstream.poll.path: {{job}} is neither an argument nor known to the runtime; must be one of {{key}}, {{intentId}}, {{order_id}}, {{note}}, {{accepted.<field>}}',
    ],
    [
      'a server in two places',
      'mcp',
      [['tool: refund,', 'tool: refund, command: [server],']],
      'upstream.mcp: has url and command; must have exactly one of them',
    ],
    [
      'a server nowhere',
      'mcp',
      [['url: "https://real.example/mcp?v=1", headers: { X-Team: agents }, ', '']],
      'upstream.mcp: has neither url nor command; must have exactly one of them',
    ],
    [
      'an environment of a server elsewhere',
      'mcp',
      [['tool: refund,', 'tool: refund, env: { A: b },']],
      'upstream.mcp.env: means nothing without command; remove it',
    ],
    [
      'a header that changes from call to call',
      'mcp',
      [['X-Team: agents', 'X-Order: "{{order_id}}"']],
      'upstream.mcp.headers.X-Order: goes with everything that is sent to this server; must be without {{…}}',
    ],
    [
      'a header of the transport',
      'mcp',
      [['X-Team', 'Mcp-Session-Id']],
      'upstream.mcp.headers.Mcp-Session-Id: set by the runtime; remove it',
    ],
    [
      'a URL with a password',
      'mcp',
      [['https://real', 'https://me:secret@real']],
      'upstream.mcp.url: holds a user name or password; must be without, use a header',
    ],
    [
      'an MCP lookup that asks for nothing',
      'mcp',
      [[`"{ 'key': key }", present`, `"{ 'all': true }", present`]],
      `upstream.lookup.arguments: asks the same for every request; must name this one, as in { "reference": key }`,
    ],
    [
      'a program that looks for nothing',
      'process',
      [['find, --, "{{key}}"', 'find, all']],
      'upstream.lookup.argv: asks the same for every request; must name this one, as in [refund, find, --, "{{key}}"]',
    ],
    [
      'a key where a program could take it for an option',
      'process',
      [['find, --, "{{key}}"', 'find, "{{key}}"']],
      'upstream.lookup.argv.2: begins with {{key}}, which may begin with a dash and be taken for an option; write --key={{key}}, or an item `--` before it',
    ],
    [
      'a receipt that is the same whatever the answer',
      'http',
      [['receipt: result', `receipt: '{ "id": $uppercase("x") }'`]],
      'upstream.poll.receipt: does not look at the answer, and says the same whatever that is; must name a field of it, such as data.id',
    ],
    [
      'a presence that is always there',
      'http',
      [['present: "$count(data) > 0"', 'present: "true"']],
      'upstream.lookup.present: does not look at the answer, and says the same whatever that is; must name a field of it, such as data.id',
    ],
    [
      'a program chosen by the model',
      'process',
      [['argv: [refund, "--key={{key}}"', 'argv: ["{{order_id}}", "--key={{key}}"']],
      'upstream.process.argv.0: is the same for every call; must be without {{…}}',
    ],
    [
      'an argument of a program that may be left out',
      'process',
      [['"{{order_id}}"', '"{{note}}"']],
      'upstream.process.argv.3: {{note}} may be left out of a call; must be listed in input.required',
    ],
    [
      'a name of the runtime in the environment',
      'process',
      [['LEDGER: real', 'INTENDANT_KEY: mine']],
      'upstream.process.env.INTENDANT_KEY: set by the runtime; remove it',
    ],
    [
      'NUL in the environment',
      'process',
      [['LEDGER: real', 'LEDGER: "a\\0b"']],
      expect.stringMatching(/^upstream\.process\.env\.LEDGER: is the string .*; must be text without NUL$/),
    ],
    [
      'a file that is no module',
      'module',
      [['refund.ts', 'refund.py']],
      'upstream.module.file: not a module; must end with .ts, .mts, .js or .mjs',
    ],
    [
      'a sandbox field of another kind',
      'http',
      [['sandbox: { baseUrl', 'sandbox: { argv: [a], baseUrl']],
      'upstream.sandbox.argv: means nothing for an upstream of kind http; known here: baseUrl, headers, credential',
    ],
    [
      'a sandbox that is the real thing',
      'http',
      [['https://test.example', 'https://REAL.example/']],
      'upstream.sandbox: is the real thing under another name; must change baseUrl or credential',
    ],
    ...[
      'https://real.example./',
      'https://real.example:443',
      'HTTPS://Real.EXAMPLE.:443',
      'https://%72eal.example',
    ].map((url): [string, Kind, Edit[], string] => [
      `a sandbox that is the real thing written as ${url}`,
      'http',
      [['https://test.example', url]],
      'upstream.sandbox: is the real thing under another name; must change baseUrl or credential',
    ]),
    ...[200, 201, 202, 204].map((status): [string, Kind, Edit[], string] => [
      `a success that means nothing was done, ${status}`,
      'http',
      [['  guarantee:', `  statuses: { ${status}: not_executed }\n  guarantee:`]],
      `upstream.statuses.${status}: not_executed whatever the answer says; must be told by its body, as in outcomes: [{ when: "status = ${status} and data.ok = false", means: not_executed }]`,
    ]),
    [
      'an HTTP lookup by what was never sent',
      'http',
      [['?key={{key}}', '?id={{intentId}}']],
      'upstream.lookup.path: asks by intentId, which the call never sends, so that nothing is ever found; must ask by key, or the call must send it',
    ],
    [
      'an MCP lookup by what was never sent',
      'mcp',
      [["{ 'key': key }", "{ 'id': intentId }"]],
      'upstream.lookup.arguments: asks by intentId, which the call never sends, so that nothing is ever found; must ask by key, or the call must send it',
    ],
    [
      'a sandbox with other headers only',
      'http',
      [['baseUrl: "https://test.example"', 'headers: { X-Mode: test }']],
      'upstream.sandbox: is the real thing under another name; must change baseUrl or credential',
    ],
    [
      'a sandbox whose server would not be used',
      'mcp',
      [['url: "https://test.example/mcp"', 'command: [server]']],
      'upstream.sandbox.command: the real server has url, not command; must be reached in the same way',
    ],
    [
      'a sandbox that is looked up in the real thing',
      'process',
      [['env: { LEDGER: test }', 'argv: [refund-test]']],
      'upstream.sandbox.argv: leads only the call to the sandbox, while lookup, poll and preview would ask the real one; must change env or credential, too',
    ],
  ])('%s', (_, kind, edits, mistake) => {
    expect(mistakesOf(kind, ...edits)).toContainEqual(mistake);
  });
});

describe('a receipt', () => {
  const output = 'required: [refund_id], properties: { refund_id: { type: string } }';
  test.each([
    ['requires nothing', 'properties: { refund_id: { type: string } }'],
    ['requires only a constant', 'required: [ok], properties: { ok: { const: true } }'],
    ['requires only one of a few words', 'required: [state], properties: { state: { enum: [done, queued] } }'],
    ['requires only a yes or no', 'required: [ok], properties: { ok: { type: boolean } }'],
    [
      'requires only an object that requires nothing',
      'required: [data], properties: { data: { type: object, properties: { id: { type: string } } } }',
    ],
  ])('that %s is refused where a lookup has to find it', (_, schema) => {
    expect(mistakesOf('http', [output, schema])).toEqual([
      'output: fits the same answer for every effect; must require a property that tells effects apart, such as an id, since a receipt that is the same for every effect is no receipt',
    ]);
  });

  test('without any schema is refused, too', () => {
    expect(mistakesOf('http', [`output: { type: object, ${output} }\n`, ''])).toEqual([
      expect.stringMatching(/^output: missing, so that any answer is a receipt; must require a property/),
    ]);
  });

  test.each([
    ['is an id', 'required: [refund_id]'],
    ['has an id inside', 'required: [data], properties: { data: { type: object, required: [id] } }'],
    ['is described elsewhere', 'allOf: [{ required: [refund_id], properties: { refund_id: { type: string } } }]'],
  ])('that %s is fine', (_, schema) => {
    expect(mistakesOf('http', [output, schema])).toEqual([]);
  });

  test('of a read, or without a lookup, may be anything', () => {
    const edits: Edit[] = [
      [output, 'properties: {}'],
      ['effect: destructive', 'effect: read'],
    ];
    expect(mistakesOf('http', ...edits)).toEqual([]);
  });
});
