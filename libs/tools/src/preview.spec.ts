import { keptBy, type PreviewDefinition } from '@intendant/contracts';
import { describe, expect, test } from 'vitest';
import { parseToolFile, readTool } from './parse-tool-file.js';
import { type Edit, environment, problemsOf, refundFile } from './refund-tool.spec-helper.js';
import { ToolSource } from './tool-source.js';
import { fileOf, type Kind, mistakesOf, toolOf } from './upstream-kinds.spec-helper.js';

const shown = `approval:
  required: true
  preview:
    request: { path: "/refunds/preview?order={{order_id}}&amount={{amount_cents}}", headers: { X-Team: "\${PAYMENTS_TEAM}" } }
    before: data.before
    after: '$merge([data.after, { "amount": $args.amount_cents }])'
    token: $headers.etag
    apply: if_match
upstream:
`;
const env = { ...environment, PAYMENTS_TEAM: 'team-agents' };
const withPreview: Edit = ['upstream:\n', shown];

/** A good file, with what differs in it. */
const file = (...edits: readonly Edit[]) => refundFile(withPreview, ...edits).replace('${PAYMENTS_TEAM}', 'agents');
const mistakes = (...edits: readonly Edit[]) =>
  problemsOf(withPreview, ['${PAYMENTS_TEAM}', 'agents'], ...edits).map(({ field, message }) => `${field}: ${message}`);
const notes = (...edits: readonly Edit[]) =>
  readTool(new ToolSource('refund.tool.yaml', file(...edits), environment)).notes;
const preview = (...edits: readonly Edit[]) =>
  parseToolFile('refund.tool.yaml', file(...edits), environment).approval.preview;

const sandbox: Edit = ['  http:\n', '  sandbox: { baseUrl: "https://test.example" }\n  http:\n'];
const untied: Edit = ['    token: $headers.etag\n    apply: if_match\n', ''];

describe('a preview', () => {
  test('is read with what is filled in from the environment', () => {
    const tool = parseToolFile('refund.tool.yaml', refundFile(withPreview), env);
    expect(tool.approval.preview).toEqual({
      request: {
        kind: 'http',
        method: 'GET',
        path: '/refunds/preview?order={{order_id}}&amount={{amount_cents}}',
        headers: { 'X-Team': 'team-agents' },
        body: null,
      },
      use: 'real',
      before: 'data.before',
      after: '$merge([data.after, { "amount": $args.amount_cents }])',
      token: { read: '$headers.etag', apply: { kind: 'if_match' }, changedStatuses: [412] },
    });
    expect(tool.filledIn).toContainEqual({ value: 'team-agents', names: ['PAYMENTS_TEAM', 'X-Team'] });
  });

  test('may show only what will be there, of the sandbox and with a body', () => {
    const asked: Edit = [
      'request: { path: "/refunds/preview?order={{order_id}}&amount={{amount_cents}}",',
      'use: sandbox\n    request: { method: POST, path: /refunds, body: $args,',
    ];
    expect(preview(sandbox, untied, ['    before: data.before\n', ''], asked)).toMatchObject({
      request: { method: 'POST', path: '/refunds', body: '$args' },
      use: 'sandbox',
      before: null,
      token: null,
    });
  });

  test.each([
    ['if_match', { kind: 'if_match' }],
    ['reread', { kind: 'reread' }],
    ['{ header: X-Version }', { kind: 'header', name: 'X-Version' }],
    ['{ field: /version }', { kind: 'field', name: 'version' }],
  ])('can say that its token is applied by %s', (apply, read) => {
    expect(preview(['apply: if_match', `apply: ${apply}`])?.token?.apply).toEqual(read);
  });

  test('can say which other statuses mean that the token is not the current one', () => {
    const changed = preview(['apply: if_match', 'apply: if_match\n    changed: [412, 428]'])?.token?.changedStatuses;
    expect(changed).toEqual([412, 428]);
  });

  test('is kept true by the upstream, by a second look, or by nothing', () => {
    const kept = (...edits: Edit[]) => keptBy(preview(...edits) as PreviewDefinition);
    expect([kept(), kept(['apply: if_match', 'apply: reread']), kept(untied)]).toEqual([
      'by_upstream',
      'read_again',
      'not_kept',
    ]);
  });

  test('that is read again makes the lease as much longer as it may take', () => {
    const lease = (...edits: Edit[]) => parseToolFile('refund.tool.yaml', file(...edits), environment).terms.leaseMs;
    expect(lease(['apply: if_match', 'apply: reread']) - lease()).toBe(9_000);
  });

  test('counts as what the tool file says', () => {
    const digest = (...edits: Edit[]) => parseToolFile('refund.tool.yaml', file(...edits), environment).fileDigest;
    expect(digest(['apply: if_match', 'apply: reread'])).not.toBe(digest());
  });
});

describe('a mistake in a preview', () => {
  test.each<[string, Edit[], string]>([
    [
      'nothing that is shown',
      [['    after: \'$merge([data.after, { "amount": $args.amount_cents }])\'\n', '']],
      'after: missing; must be a JSONata expression',
    ],
    [
      'an unknown field',
      [['apply: if_match', 'apply: if_match\n    tokn: 1']],
      'tokn: unknown field; did you mean token?',
    ],
    [
      'no path',
      [['path: "/refunds/preview?order={{order_id}}&amount={{amount_cents}}", ', '']],
      'request.path: missing; the preview of an upstream of kind http must have it',
    ],
    [
      'an unknown placeholder',
      [['{{order_id}}&amount', '{{order}}&amount']],
      'request.path: {{order}} is neither an argument nor known to the runtime;',
    ],
    [
      'an argument that may be left out',
      [['amount={{amount_cents}}', 'amount={{reason}}']],
      'request.path: {{reason}} may be left out of a call',
    ],
    [
      'a header of the runtime',
      [['X-Team', 'Idempotency-Key']],
      'request.headers.Idempotency-Key: set by the runtime; remove it',
    ],
    [
      'a field of another kind',
      [['request: {', 'request: { argv: [ls],']],
      'request.argv: means nothing for the preview of an upstream of kind http; known here: path, method',
    ],
    ['a body of a GET', [['request: {', 'request: { body: $args,']], 'request.body: a GET has no body'],
    [
      'a GET that says that it only reads',
      [['request: {', 'request: { readOnly: true,']],
      'request.readOnly: means nothing for a GET',
    ],
    [
      'a POST to the real upstream',
      [['request: {', 'request: { method: POST,']],
      'request: a POST may change what is there, and nobody has agreed yet; must say readOnly: true if it changes nothing, or use: sandbox',
    ],
    [
      'the call itself',
      [
        [
          'request: { path: "/refunds/preview?order={{order_id}}&amount={{amount_cents}}", headers: { X-Team: "agents" }',
          'request: { readOnly: true, method: POST, path: /refunds, body: $args, headers: { X-Order: "{{order_id}}" }',
        ],
      ],
      'request: is the call itself, which is to wait for an approval',
    ],
    [
      'a sandbox that is not there',
      [untied, ['    before:', '    use: sandbox\n    before:']],
      'use: there is no upstream.sandbox',
    ],
    ['an expression that is none', [['before: data.before', 'before: "data["']], 'must be a JSONata expression'],
    [
      'arguments in what is there now',
      [['before: data.before', 'before: $args.order_id']],
      'before: $args is neither a function of JSONata nor known here ($data, $status, $headers)',
    ],
    [
      'a token that is always the same',
      [['token: $headers.etag', `token: "'1'"`]],
      'token: does not look at the answer',
    ],
    [
      'a token that nobody uses',
      [['    apply: if_match\n', '']],
      'apply: missing; must say how the token makes sure that what was approved is still there',
    ],
    ['a use without a token', [['    token: $headers.etag\n', '']], 'apply: means nothing without a token'],
    [
      'statuses without a token',
      [untied, ['    before:', '    changed: [412]\n    before:']],
      'changed: means nothing without a token',
    ],
    [
      'a token of the sandbox',
      [sandbox, ['    before:', '    use: sandbox\n    before:']],
      'token: says what is there in the sandbox, which is not what the call changes',
    ],
    [
      'an unknown way to use a token',
      [['apply: if_match', 'apply: if_none_match']],
      'apply: is the string "if_none_match"; must be if_match, reread, { header: X-Version } or { field: /version }',
    ],
    [
      'two ways to use a token',
      [['apply: if_match', 'apply: { header: X-V, field: /v }']],
      'apply: is an object; must be if_match, reread',
    ],
    [
      'a header that is none',
      [['apply: if_match', 'apply: { header: "X Version" }']],
      'apply.header: not the name of a header',
    ],
    [
      'a header of the runtime for the token',
      [['apply: if_match', 'apply: { header: X-Attempt-Id }']],
      'apply.header: set by the runtime; must be another',
    ],
    [
      'a header that the call has',
      [['apply: if_match', 'apply: { header: x-order }']],
      'apply: the call has a header x-order already',
    ],
    [
      'a field deeper down',
      [['apply: if_match', 'apply: { field: /order/version }']],
      'apply.field: is the string "/order/version"; must be a JSON Pointer to a field at the top of the arguments',
    ],
    [
      'a field that a model can set',
      [['apply: if_match', 'apply: { field: /reason }']],
      'apply.field: reason is an argument or an injected field; must be a name that only the runtime sets',
    ],
    [
      'a field that is injected',
      [['apply: if_match', 'apply: { field: /agent_user }']],
      'apply.field: agent_user is an argument or an injected field',
    ],
    [
      'a trusted field',
      [['apply: if_match', 'apply: { field: /token }']],
      'apply.field: token is the name of a trusted field; must be another, such as /version',
    ],
    [
      'a field that is not sent',
      [
        ['apply: if_match', 'apply: { field: /version }'],
        ['body: "$args"', 'body: \'{ "order": $args.order_id }\''],
      ],
      'apply.field: the call does not send it: upstream.http.body names neither version nor all of $args',
    ],
    [
      'a field of a call without a body',
      [
        ['apply: if_match', 'apply: { field: /version }'],
        ['    body: "$args"\n', ''],
      ],
      'apply.field: the call does not send it: upstream.http.body is left out',
    ],
    [
      'a status that means two things',
      [['apply: if_match', 'apply: if_match\n    changed: [409]']],
      'upstream.statuses.409: says otherwise than approval.preview',
    ],
    [
      'statuses of a call without a token',
      [['apply: if_match', 'apply: reread\n    changed: [412]']],
      'changed: means nothing where the call carries no token',
    ],
    [
      'a status that is no refusal',
      [['apply: if_match', 'apply: if_match\n    changed: [200]']],
      'changed.0: is the number 200; must be an HTTP status from 400 to 499',
    ],
    [
      'an argument that nobody is shown',
      [['required: true', 'required: true\n  redact: [/amount_cents]']],
      'after: would show /amount_cents, which approval.redact shows to nobody',
    ],
    [
      'all arguments, some of which nobody is shown',
      [
        ['required: true', 'required: true\n  redact: [/reason]'],
        ['{ "amount": $args.amount_cents }', '$args'],
      ],
      'after: would show /reason',
    ],
  ])('%s', (_, edits, message) => {
    const found = mistakes(...edits);
    expect(found).toEqual([expect.stringContaining(message)]);
  });

  test('is none where the body hands the field on by its name, or a path of another kind is the same', () => {
    const field: Edit = ['apply: if_match', 'apply: { field: /version }'];
    expect(mistakes(field, ['body: "$args"', 'body: \'{ "order": $args.order_id, "if": $args.version }\''])).toEqual(
      [],
    );
    expect(mistakes(field, ['body: "$args"', 'body: "$merge([$args, {}])"'])).toEqual([]);
    expect(mistakes(['request: {', 'request: { method: POST, readOnly: true,'])).toEqual([]);
  });
});

describe('what there is to say about a good preview', () => {
  test('is nothing where the upstream compares', () => {
    expect(notes()).toEqual([]);
  });

  test.each<[string, Edit[], string]>([
    ['no token', [untied], 'the preview has no token: nobody notices what changes'],
    ['a second look', [['apply: if_match', 'apply: reread']], 'the preview is read again just before the call'],
    [
      'a sandbox',
      [untied, sandbox, ['    before:', '    use: sandbox\n    before:']],
      'the preview shows what the sandbox holds',
    ],
  ])('tells of %s', (_, edits, note) => {
    expect(notes(...edits)).toEqual([expect.stringContaining(note)]);
  });
});

describe('a preview of another kind of upstream', () => {
  const written = (text: string): Edit => ['upstream:', `approval: { required: true, preview: ${text} }\nupstream:`];

  test('is another tool of the server', () => {
    const text = '{ request: { tool: look, readOnly: true }, after: data, token: data.version, apply: { field: /v } }';
    const whole: Edit = [`arguments: "{ 'order': $args.order_id, 'key': key }"`, 'arguments: $args'];
    expect(toolOf('mcp', written(text), whole).approval.preview).toMatchObject({
      request: { kind: 'mcp', tool: 'look', arguments: '$args' },
      token: { apply: { kind: 'field', name: 'v' } },
    });
  });

  test('is a function of the module, which needs no request', () => {
    const text = '{ after: data.after, token: data.v, apply: { field: /version } }';
    expect(toolOf('module', written(text)).approval.preview).toMatchObject({
      request: { kind: 'module' },
      token: { read: 'data.v', apply: { kind: 'field', name: 'version' } },
    });
  });

  test('is another program', () => {
    const text =
      '{ request: { argv: [refund, look, --, "{{order_id}}"], readOnly: true }, after: data, token: data.v, apply: reread }';
    expect(toolOf('process', written(text)).approval.preview).toMatchObject({
      request: { kind: 'process', argv: ['refund', 'look', '--', '{{order_id}}'] },
    });
  });

  test.each<[Kind, string, string]>([
    [
      'module',
      '{ request: {}, after: data }',
      'approval.preview.request: means nothing for a module, whose own function preview answers; remove it',
    ],
    [
      'mcp',
      '{ request: { tool: refund, arguments: "$args", readOnly: true }, after: data }',
      'approval.preview.request: is the call itself',
    ],
    ['http', '{ after: data }', 'approval.preview.request: missing; must say how the upstream is asked'],
    [
      'mcp',
      '{ request: { tool: look }, after: data }',
      'approval.preview.request: a tool may change what is there, and nobody has agreed yet;',
    ],
    [
      'process',
      '{ request: { argv: [look] }, after: data }',
      'approval.preview.request: a program may change what is there, and nobody has agreed yet;',
    ],
    [
      'mcp',
      '{ request: { path: /look }, after: data }',
      'approval.preview.request.path: means nothing for the preview of an upstream of kind mcp; known here: tool, arguments, readOnly',
    ],
    [
      'process',
      '{ request: { argv: [look], readOnly: true }, after: $status }',
      'approval.preview.after: $status is neither a function of JSONata nor known here',
    ],
    [
      'process',
      '{ request: { argv: [look], readOnly: true }, after: data, token: data.v, apply: if_match }',
      'approval.preview.apply: an upstream of kind process has no headers of a call; must be { field: /version } or reread',
    ],
    [
      'mcp',
      '{ request: { tool: look, readOnly: true }, after: data, token: data.v, apply: { field: /v } }',
      'approval.preview.apply.field: the call does not send it: upstream.mcp.arguments names neither v nor all of $args',
    ],
    [
      'mcp',
      '{ request: { tool: look, readOnly: true }, after: data, token: data.v, apply: reread, changed: [412] }',
      'approval.preview.changed: means nothing for an upstream of kind mcp',
    ],
  ])('of kind %s cannot be %s', (kind, text, message) => {
    const whole: Edit[] = kind === 'mcp' ? [[`"{ 'order': $args.order_id, 'key': key }"`, '$args']] : [];
    const edits = text.includes('tool: refund') ? whole : [];
    expect(mistakesOf(kind, written(text), ...edits)).toContainEqual(expect.stringContaining(message));
  });

  test('of a program leads elsewhere by the environment, like every question', () => {
    const edits: Edit[] = [
      ['sandbox: { env: { LEDGER: test } }', 'sandbox: { argv: [refund-test] }'],
      [fileOf('process').slice(fileOf('process').indexOf('  guarantee:')), '  guarantee: none\n'],
      written('{ request: { argv: [look], readOnly: true }, after: data }'),
    ];
    expect(mistakesOf('process', ...edits)).toEqual([
      expect.stringContaining(
        'leads only the call to the sandbox, while lookup, poll and preview would ask the real one',
      ),
    ]);
  });
});
