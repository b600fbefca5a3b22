import { describe, expect, test } from 'vitest';
import { parseToolFile } from './parse-tool-file.js';
import { type Edit, problemsOf, refundFile, report } from './refund-tool.spec-helper.js';
import { runtimeHeaders } from './runtime-headers.js';
import { ToolFileError } from './tool-file-error.js';

describe('a mistake names line, field and what would be right', () => {
  test.each<[string, Edit[], unknown]>([
    ['missing effect', [['effect: destructive\n', '']], '1 effect: missing; must be read, write or destructive'],
    [
      'unknown effect',
      [['effect: destructive', 'effect: delete']],
      '6 effect: is the string "delete"; must be one of "read", "write", "destructive"',
    ],
    ['misspelt field', [['permission:', 'permision:']], '8 permision: unknown field; did you mean permission?'],
    [
      'unknown field inside',
      [['lag: 500ms', 'color: red']],
      '38 upstream.lookup.color: unknown field; known here: method, path, headers, tool, arguments, argv, present, receipt, count, parts, absent, authoritative, lag, spacing, deadline',
    ],
    [
      'bad name',
      [['payments.refund.create', 'Refund']],
      '2 name: is the string "Refund"; must be lower-case words joined by dots, such as payments.refund.create, 64 characters at most',
    ],
    [
      "a name of Intendant's own",
      [['payments.refund.create', 'intendant.refund.create']],
      '2 name: is the string "intendant.refund.create"; must be a name that does not begin with `intendant.`: those are tools of Intendant itself',
    ],
    ['version zero', [['version: 1', 'version: 0']], '3 version: is the number 0; must be a whole number, 1 or more'],
    [
      'a duration without unit',
      [['call: 8s', 'call: 8']],
      '20 limits.call: is the number 8; must be a duration such as 2s, 500ms, 5m or PT24H',
    ],
    ['a limit of zero', [['call: 8s', 'call: 0s']], '20 limits.call: is zero; must be longer'],
    [
      'a duration of a century',
      [['PT24H', 'P36500D']],
      '31 upstream.keyRetention: not a duration of ten years or less; must be like 2s, 500ms, 5m or PT24H',
    ],
    [
      'a permission with a wildcard',
      [['payments:refund', '"payments:*"']],
      '8 permission: is the string "payments:*"; must be a permission such as payments:refund, without `*`',
    ],
    [
      'an unknown session field',
      [['agent_user: user', 'agent_user: email']],
      '19 inject.agent_user: is the string "email"; must be one of "tenant", "user", "run"',
    ],
    [
      'an unknown status meaning',
      [['in_progress', 'fine']],
      '29 upstream.statuses.409: is the string "fine"; must be one of "executed", "not_executed", "accepted", "unknown", "in_progress"',
    ],
    [
      'a status that is none',
      [['409', '42']],
      '29 upstream.statuses.42: bad name; must be an HTTP status from 200 to 599',
    ],
    [
      'no upstream kind',
      [[refundFile().slice(refundFile().indexOf('  http:'), refundFile().indexOf('  statuses:')), '']],
      '22 upstream: has no kind; must have exactly one of http, mcp, process, module',
    ],
    [
      'a base URL of another scheme',
      [['${PAYMENTS_URL}', 'ftp://payments.example']],
      '24 upstream.http.baseUrl: not an http or https URL; must be like https://payments.example',
    ],
    [
      'a base URL with a query',
      [['${PAYMENTS_URL}', 'http://payments.example/?a=1']],
      '24 upstream.http.baseUrl: has a query or fragment; must end before them, since the path is appended',
    ],
    [
      'a base URL with a password',
      [['${PAYMENTS_URL}', 'http://me:secret@payments.example']],
      '24 upstream.http.baseUrl: holds a user name or password; must be without, use a header',
    ],
    [
      'a path to another host',
      [['path: /refunds', 'path: //evil.example/refunds']],
      '26 upstream.http.path: is the string "//evil.example/refunds"; must be a path that starts with one `/` and has no spaces or `#`',
    ],
    [
      'an unknown placeholder',
      [['"{{order_id}}"', '"{{order}}"']],
      '27 upstream.http.headers.X-Order: {{order}} is neither an argument nor known to the runtime; must be one of {{key}}, {{intentId}}, {{order_id}}, {{amount_cents}}, {{reason}}, {{tenant_id}}, {{agent_user}}',
    ],
    [
      'unbalanced braces',
      [['"{{order_id}}"', '"{{order_id"']],
      '27 upstream.http.headers.X-Order: unbalanced braces; must be like {{order_id}}',
    ],
    ...[...runtimeHeaders, 'Expect', 'TE', 'Idempotency-Key'].map((name): [string, Edit[], string] => [
      `a header of the runtime, ${name}`,
      [['X-Order', name]],
      `27 upstream.http.headers.${name}: set by the runtime; remove it`,
    ]),
    [
      'a header name with a space',
      [['X-Order', 'X Order']],
      '27 upstream.http.headers.X Order: not the name of a header; must be letters, digits and dashes',
    ],
    [
      'a body of a GET',
      [['method: POST', 'method: GET']],
      '28 upstream.http.body: a GET has no body; remove it, or use another method',
    ],
    [
      '$eval in an expression',
      [['"data[0]"', '"$eval(data[0].x)"']],
      '36 upstream.lookup.receipt: $eval is not allowed; must be written out',
    ],
    [
      'a path that climbs',
      [['path: /refunds', 'path: /refunds/../payouts']],
      '26 upstream.http.path: has a segment `.` or `..`; must be without, written as the place that is meant',
    ],
    [
      'a path that climbs in other letters',
      [['"/refunds?key={{key}}"', '"/refunds%2f%2E./x?key={{key}}"']],
      '34 upstream.lookup.path: has a segment `.` or `..`; must be without, written as the place that is meant',
    ],
    [
      'a path with a space beyond ASCII',
      [['path: /refunds', 'path: "/re\\u00a0funds"']],
      expect.stringMatching(/^26 upstream\.http\.path: .*must be a path that starts with one/),
    ],
    [
      'an argument in a header that may be left out',
      [['"{{order_id}}"', '"{{reason}}"']],
      '27 upstream.http.headers.X-Order: {{reason}} may be left out of a call; must be listed in input.required',
    ],
    [
      'an argument in a path that may be left out',
      [['path: /refunds', 'path: "/refunds/{{args.reason}}"']],
      '26 upstream.http.path: {{args.reason}} may be left out of a call; must be listed in input.required',
    ],
    [
      'an argument in a lookup that may be left out',
      [['?key={{key}}', '?key={{key}}&reason={{reason}}']],
      '34 upstream.lookup.path: {{reason}} may be left out of a call; must be listed in input.required',
    ],
    [
      'a lookup that asks for nothing',
      [['?key={{key}}', '']],
      '34 upstream.lookup.path: asks the same for every request; must name this one, as in ?key={{key}}',
    ],
    [
      'a status that cannot mean absence',
      [['lag: 500ms', 'absent: [404, 502]']],
      '38 upstream.lookup.absent.1: is the number 502; must be an HTTP status from 400 to 499, or an exit status',
    ],
    [
      'a status that is text',
      [['lag: 500ms', 'absent: ["404"]']],
      '38 upstream.lookup.absent.0: is the string "404"; must be an HTTP status from 400 to 499, or an exit status',
    ],
    [
      'a status given twice',
      [['lag: 500ms', 'absent: [404, 404]']],
      '38 upstream.lookup.absent: is an array of 2 items; must be a list of different HTTP or exit statuses, such as [404]',
    ],
    [
      'absence as one status',
      [['lag: 500ms', 'absent: 404']],
      '38 upstream.lookup.absent: is the number 404; must be a list of different HTTP or exit statuses, such as [404]',
    ],
    [
      'a misspelt absence',
      [['lag: 500ms', 'abscent: [404]']],
      '38 upstream.lookup.abscent: unknown field; did you mean absent?',
    ],
    [
      'no guarantee for a write',
      [['  guarantee: idempotency_key\n  keyRetention: PT24H\n', '']],
      '22 upstream.guarantee: missing; a destructive tool must say idempotency_key, conditional_create, lookup or none',
    ],
    [
      'no processing time',
      [['  maxProcessing: 10s\n', '']],
      '22 upstream.maxProcessing: missing; must be a duration such as 10s, without it nobody knows when an absence means anything',
    ],
    [
      'a key without retention',
      [['  keyRetention: PT24H\n', '']],
      '22 upstream.keyRetention: missing; must be how long the upstream remembers a key, such as PT24H',
    ],
    [
      'retention without a key',
      [['guarantee: idempotency_key', 'guarantee: lookup']],
      '31 upstream.keyRetention: means nothing for the guarantee lookup; remove it, or say idempotency_key',
    ],
    [
      'none together with a lookup',
      [['idempotency_key\n  keyRetention: PT24H', 'none']],
      '30 upstream.guarantee: none together with a lookup; say lookup, or remove the lookup',
    ],
    [
      'a lookup guarantee without authority',
      [
        ['idempotency_key\n  keyRetention: PT24H', 'lookup'],
        ['authoritative: true', 'authoritative: false'],
      ],
      '36 upstream.lookup.authoritative: an empty answer proves nothing; must be true for the guarantee lookup, or say none and remove the lookup',
    ],
    [
      'a settle time below the declared times',
      [['  statuses:', '  settle: 10s\n  statuses:']],
      '29 upstream.settle: settle (10 s) must be at least maxProcessing 10 s + lookup.lag 500 ms + margin 100 ms = 10.6 s',
    ],
    [
      'a number JSON does not have',
      [['maximum: 1000000', 'maximum: .inf']],
      '16 input.properties.amount_cents.maximum: is Infinity; must be a number that JSON has',
    ],
  ])('%s', (_, edits, expected) => {
    expect(report(...edits)).toContainEqual(expected);
  });

  test('a lookup guarantee without a lookup', () => {
    const text = refundFile();
    const lookup = text.slice(text.indexOf('  lookup:'));
    expect(report([lookup, ''], ['idempotency_key\n  keyRetention: PT24H', 'lookup'])).toEqual([
      '22 upstream.lookup: missing; the guarantee lookup must have one',
    ]);
  });

  test('an expression that does not compile names the character', () => {
    expect(report(['"$count(data) > 0"', '"$count(data >"'])).toEqual([
      expect.stringMatching(/^35 upstream\.lookup\.present: .* at character \d+; must be a JSONata expression$/),
    ]);
  });

  test('all mistakes of a file are reported at once, in the order of their lines', () => {
    const problems = problemsOf(
      ['effect: destructive', 'effect: x'],
      ['version: 1', 'version: one'],
      ['lag: 500ms', 'lag: soon'],
    );
    expect(problems.map(({ line, field }) => [line, field])).toEqual([
      [3, 'version'],
      [6, 'effect'],
      [38, 'upstream.lookup.lag'],
    ]);
  });

  test('the message of the error has one line per problem with file, line and field', () => {
    const error = new ToolFileError(problemsOf(['effect: destructive\n', ''], ['version: 1', 'version: 0']));
    expect(error.message).toBe(
      'refund.tool.yaml:1 effect: missing; must be read, write or destructive\n' +
        'refund.tool.yaml:3 version: is the number 0; must be a whole number, 1 or more',
    );
  });

  test.each([
    ['broken YAML', 'name: [a\nversion: 1\n', 2],
    ['a field given twice', 'name: a.b\nversion: 1\nname: c.d\n', 3],
    ['a second document', 'name: a.b\n---\nname: c.d\n', 2],
    ['an alias of nothing', 'name: a.b\ninput: *x\n', 2],
    ['an alias inside itself', 'name: a.b\ninput: &x\n  a: *x\n', 3],
    [
      'a flood of aliases',
      `a: &a [x, x]\n${[...'bcdefgh'].map((each, n) => `${each}: &${each} [*${'abcdefg'[n]}, *${'abcdefg'[n]}]\n`).join('')}`,
      1,
    ],
    ['an unknown tag', 'name: !secret x\n', 1],
    ['a list', '- name\n', 1],
    ['an empty file', '', 1],
  ])('%s is refused with its line', (_, text, line) => {
    expect(() => parseToolFile('bad.tool.yaml', text, {})).toThrow(new RegExp(`^bad\\.tool\\.yaml:${line}: `));
  });
});
