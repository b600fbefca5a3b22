import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { factsOf } from './facts.spec-helper.js';
import { judge, parsePolicyFiles, refusalBy, restrictionsOf } from './index.js';

const page = readFileSync(new URL('../../../docs/policy.md', import.meta.url), 'utf8');
const blocks = [...page.matchAll(/^```yaml\n(.*?)^```/gms)].map(([, text]) => String(text));
const tools = ['payments.refund.create', 'mail.message.send'];
const head = 'apiVersion: intendant/policy/v1\n';
const files = blocks.map((text, n) => ({ file: `${n}.policy.yaml`, text: text.startsWith(head) ? text : head + text }));
const [general, acme, more] = files.map((file) => [file]);

test('every policy file of docs/policy.md loads as it stands', () => {
  expect(files).toHaveLength(3);
  const set = parsePolicyFiles([...(general ?? []), ...(acme ?? [])], tools);
  expect(set.rulesFor('acme').map(({ name }) => name)).toEqual(['acme-second-refund', 'no-large-refunds']);
  expect(set.rates('acme').perTenant).toEqual({ count: 10, perMs: 1000 });
  expect(set.serviceKey('support-bot', 'acme')).toMatchObject({
    ceilings: { calls: 200, wallClockMs: 7_200_000, mutating: 50, destructive: 3, costMicros: 500_000_000 },
    permissions: ['payments:*'],
  });
});

test('the rules on the page decide as the page says', () => {
  const set = parsePolicyFiles([...(general ?? []), ...(acme ?? [])], tools);
  expect(judge(set, factsOf({ args: { order_id: 'o', amount_cents: 100_001 } }))).toMatchObject({
    kind: 'deny',
    rule: 'no-large-refunds',
  });
  const again = { history: [{ args: { order_id: 'o' } }] };
  const kindAfter = (run: object) => judge(set, factsOf({ args: { order_id: 'o', amount_cents: 5 }, run })).kind;
  expect([kindAfter({}), kindAfter(again)]).toEqual(['allow', 'require_approval']);
  const restricted = restrictionsOf(set, 'support-bot', 'acme', 'payments.refund.create');
  expect(refusalBy(restricted, factsOf({ args: { amount_cents: 20_000 } }))).toBeNull();
  expect(refusalBy(restricted, factsOf({ args: { amount_cents: 20_001 } }))).toMatchObject({
    message: 'Refunds of this agent are at most 200.00.',
  });
});

test.each<[string, string | null, Parameters<typeof factsOf>[0]]>([
  ['a first refund', null, { args: { amount_cents: 40_000 } }],
  [
    'one that makes it too many',
    'refunds-of-a-run',
    { args: { amount_cents: 40_000 }, run: { history: [{ args: { amount_cents: 10_001 } }] } },
  ],
  [
    'a refund after foreign text',
    'destructive-after-foreign-text',
    { args: { amount_cents: 1 }, run: { tainted: true } },
  ],
  ['a mail to a customer', null, { tool: { name: 'mail.message.send' }, args: { to: ['a@example.com'] } }],
  [
    'a mail to others',
    'mail-goes-to-customers',
    { tool: { name: 'mail.message.send' }, args: { to: ['a@example.org'] } },
  ],
  [
    'a costly batch',
    'nothing-costly-for-batches',
    { args: { amount_cents: 1 }, session: { profile: 'batch' }, cost: 101 },
  ],
  [
    'a read of support',
    'reads-of-support',
    { args: { amount_cents: 1 }, session: { phase: 'triage' }, tool: { effect: 'read' } },
  ],
])('of the shorter examples, %s meets %s', (_, rule, facts) => {
  expect(judge(parsePolicyFiles(more ?? [], tools), factsOf(facts))).toMatchObject({ rule, error: null });
});

test('every variable of a rule is in the table of the page', async () => {
  const { ruleVariables } = await import('./variables.js');
  for (const [name, fields] of Object.entries(ruleVariables)) {
    const row = page.split('\n').find((line) => line.startsWith(`| \`${name}\` |`)) ?? '';
    for (const field of fields ?? []) expect(row).toContain(`\`${field}\``);
    expect(row).not.toBe('');
  }
});
