import { defaultApproval } from '@intendant/contracts';
import { describe, expect, test } from 'vitest';
import { parseToolFile } from './parse-tool-file.js';
import { type Edit, environment, refundFile, refundTool, report } from './refund-tool.spec-helper.js';

const approval = (fields: string): Edit => ['retry:', `approval: { required: true, ${fields} }\nretry:`];
const card: Edit = [
  '    reason:',
  `    card: { type: object, additionalProperties: false, properties: { number: { type: string } } }
    lines: { type: array, items: { type: object, additionalProperties: false, properties: { iban: { type: string } } } }
    open: {}
    reason:`,
];

describe('what a tool file says about approval', () => {
  test('is nothing by default: nobody has to agree, unless somebody else asks', () => {
    expect(refundTool().approval).toEqual(defaultApproval);
  });

  test('is read field by field', () => {
    const fields = [
      'quorum: 2, ttl: 5m, view: "Refund {{amount_cents}} of {{order_id}} for {{ agent_user }}, {{reason}}"',
      'impact: "Money leaves {{tenant_id}}.", undo: Ask the customer, roles: [operator, admin], groups: [payments, on-call]',
      'selfApproval: true, redact: [/card/number, /lines/*/iban, /open], remember: tenant',
    ].join(', ');
    expect(refundTool(card, approval(fields)).approval).toEqual({
      required: true,
      preview: null,
      quorum: 2,
      ttlMs: 300_000,
      view: 'Refund {{amount_cents}} of {{order_id}} for {{ agent_user }}, {{reason}}',
      impact: 'Money leaves {{tenant_id}}.',
      undo: 'Ask the customer',
      roles: ['operator', 'admin'],
      groups: ['payments', 'on-call'],
      selfApproval: true,
      redact: ['/card/number', '/lines/*/iban', '/open'],
      remember: 'tenant',
    });
  });

  test('may ask for approval of a read', () => {
    const edits: Edit[] = [['effect: destructive', 'effect: read'], approval('quorum: 1')];
    expect(refundTool(...edits)).toMatchObject({ effect: 'read', approval: { required: true } });
  });

  test('may show an object of which a part is hidden', () => {
    expect(report(card, approval('view: "{{card}}", redact: [/card/number]'))).toEqual([]);
  });
});

describe('a mistake in it names line, field and what would be right', () => {
  const known =
    'must be one of {{order_id}}, {{amount_cents}}, {{card}}, {{lines}}, {{open}}, {{reason}}, {{tenant_id}}, {{agent_user}}';
  test.each<[string, string]>([
    ['quorm: 2', '24 approval.quorm: unknown field; did you mean quorum?'],
    ['quorum: 0', '24 approval.quorum: is the number 0; must be a whole number from 1 to 10'],
    ['quorum: 11', '24 approval.quorum: is the number 11; must be a whole number from 1 to 10'],
    ['ttl: 0s', '24 approval.ttl: is zero; must be longer'],
    ['ttl: 999ms', '24 approval.ttl: too short for a person; must be 1s or longer'],
    ['ttl: 8d', '24 approval.ttl: approval.ttl (8 d) must be at most the longest run 24 h - lease 12 s = 86388 s'],
    ['roles: [viewer]', '24 approval.roles.0: is the string "viewer"; must be one of "operator", "admin"'],
    ['roles: []', '24 approval.roles: is an array of 0 items; must be a list of operator and admin without repetition'],
    ['groups: [Pay]', '24 approval.groups.0: is the string "Pay"; must be a lower-case word'],
    ['groups: []', '24 approval.groups: is an array of 0 items; must be a list of groups without repetition'],
    ['selfApproval: yes', '24 approval.selfApproval: is the string "yes"; must be true or false'],
    ['remember: ever', '24 approval.remember: is the string "ever"; must be one of "run", "tenant"'],
    ['view: "{{order}}"', `24 approval.view: {{order}} is neither an argument nor an injected field; ${known}`],
    ['view: "{{key}}"', `24 approval.view: {{key}} is neither an argument nor an injected field; ${known}`],
    ['impact: "{{}}"', `24 approval.impact: {{}} is neither an argument nor an injected field; ${known}`],
    ['view: "{{card.number}}"', '24 approval.view: {{card.number}} is a path; must be a whole field, such as {{card}}'],
    ['view: "{{args.card}}"', '24 approval.view: {{args.card}} is a path; must be {{card}}'],
    ['view: "Refund {{order_id"', '24 approval.view: unbalanced braces; must be like {{order_id}}'],
    ['impact: "{{order_id}} }}"', '24 approval.impact: unbalanced braces; must be like {{order_id}}'],
    ['view: "  "', '24 approval.view: is blank; must say something, or be left out'],
    ['undo: "Void {{order_id}}"', '24 approval.undo: is shown as it stands; must be without {{…}}'],
    [
      'view: "{{reason}}", redact: [/reason]',
      '24 approval.view: {{reason}} is shown to nobody by approval.redact; must be without it',
    ],
    [
      'impact: "{{reason}}", redact: [/reason]',
      '24 approval.impact: {{reason}} is shown to nobody by approval.redact; must be without it',
    ],
    ['redact: [reason]', '24 approval.redact.0: is the string "reason"; must be a JSON Pointer such as /order_id'],
    ['redact: [/reson]', '24 approval.redact.0: input has no property reson; did you mean reason?'],
    ['redact: [/tenant_id]', '24 approval.redact.0: input has no property tenant_id; must name one that it has'],
    ['redact: [/__proto__]', '24 approval.redact.0: input has no property __proto__; must name one that it has'],
    ['redact: [/card/cvc]', '24 approval.redact.0: input has no property card.cvc; must name one that it has'],
    ['redact: [/lines/0]', '24 approval.redact.0: lines is a list; must go on with /* for each of its items'],
    [
      'redact: [/open/x]',
      '24 approval.redact.0: open need not be an object or a list; must have type: object or type: array in input',
    ],
  ])('%s', (fields, expected) => {
    expect(report(card, approval(fields))).toEqual([expected]);
  });

  test('approval without required', () => {
    expect(report(['retry:', 'approval: { quorum: 2 }\nretry:'])).toEqual([
      '21 approval.required: missing; must be true or false',
    ]);
  });
});

describe('the digest of a tool file', () => {
  const { fileDigest } = refundTool();

  test.each<[string, Edit]>([
    ['a comment', ['version: 1', 'version: 1 # first']],
    ['an empty line', ['version: 1', '\nversion: 1']],
    ['the order of fields', ['name: payments.refund.create\nversion: 1', 'version: 1\nname: payments.refund.create']],
    ['quotes', ['effect: destructive', 'effect: "destructive"']],
    ['the way a list is written', ['phases: [resolve]', 'phases:\n  - resolve']],
  ])('stays the same with another way to write it: %s', (_, edit) => {
    expect(fileDigest).toMatch(/^[0-9a-f]{64}$/);
    expect(refundTool(edit).fileDigest).toBe(fileDigest);
  });

  test.each<[string, Edit]>([
    ['description', ['captured payment', 'payment']],
    ['limits', ['call: 8s', 'call: 9s']],
    ['input', ['maximum: 1000000', 'maximum: 1000001']],
    ['upstream', ['path: /refunds\n', 'path: /v2/refunds\n']],
    ['name of a variable', ['${PAYMENTS_URL}', '${PAYMENTS_URL:-https://payments.example/api}']],
    ['approval', approval('quorum: 2')],
    ['order of a list', ['[order_id, amount_cents]', '[amount_cents, order_id]']],
  ])('differs with another %s', (_, edit) => {
    expect(refundTool(edit).fileDigest).not.toBe(fileDigest);
  });

  test('has nothing of the environment', () => {
    const elsewhere = parseToolFile('other.tool.yaml', refundFile(), { PAYMENTS_URL: 'https://sandbox.example' });
    expect(elsewhere.upstream).not.toEqual(parseToolFile('other.tool.yaml', refundFile(), environment).upstream);
    expect(elsewhere.fileDigest).toBe(fileDigest);
  });
});
