import { defaultApproval } from '@intendant/contracts';
import { renderImpact, renderView } from '@intendant/policy';
import { describe, expect, test } from 'vitest';
import { approvalMessage, type BriefCard } from './approval-message.js';

const card: BriefCard = {
  intentId: '01JD8Q4Y6V2N7XK3T5W9ZB1CEF',
  tool: 'payments.refund.create',
  digest: 'd1',
  approval: {
    view: 'Refund 2499 cents to *Amy* <!channel> <https://evil.example|here> :tada:',
    why: ['It always needs a person.'],
    requester: 'ada <@U1>',
    expiresAt: '2026-01-01T10:00:00.000Z',
    quorum: 1,
    given: 0,
  },
  sandbox: false,
  impact: null,
  reversible: null,
  undo: null,
  preview: null,
  notes: [],
};
const link = 'https://intendant.example/v1/approvals/01JD8Q4Y6V2N7XK3T5W9ZB1CEF';
const withView = (view: string) => ({ ...card, approval: { ...card.approval, view } });
interface Block {
  readonly type: string;
  readonly text?: { readonly type: string; readonly text: string };
  readonly elements?: readonly object[];
}
const blocksOf = (of: BriefCard, at: string | null = link) =>
  (approvalMessage('C1', of, at) as { blocks: readonly Block[] }).blocks;

describe('the message about an approval', () => {
  test('says what, who, why and until when, with a link and two buttons', () => {
    expect(approvalMessage('C0123ABCD', card, link)).toEqual({
      channel: 'C0123ABCD',
      text: 'payments.refund.create waits for approval.',
      unfurl_links: false,
      unfurl_media: false,
      blocks: [
        {
          type: 'header',
          text: { type: 'plain_text', text: 'payments.refund.create waits for approval', emoji: false },
        },
        { type: 'section', text: { type: 'plain_text', text: card.approval.view, emoji: false } },
        {
          type: 'section',
          text: {
            type: 'plain_text',
            text: 'Asked for by ada <@U1>. One person has to agree, until 2026-01-01T10:00:00.000Z.\nWhy: It always needs a person.',
            emoji: false,
          },
        },
        { type: 'context', elements: [{ type: 'mrkdwn', text: `<${link}|payments.refund.create>` }] },
        {
          type: 'actions',
          elements: ['approve', 'refuse'].map((action) => ({
            type: 'button',
            action_id: action,
            text: { type: 'plain_text', text: action === 'approve' ? 'Approve' : 'Refuse', emoji: false },
            style: action === 'approve' ? 'primary' : 'danger',
            value: '{"id":"01JD8Q4Y6V2N7XK3T5W9ZB1CEF","digest":"d1"}',
          })),
        },
      ],
    });
  });

  test('has what a model chose in plain text only', () => {
    const hostile = withView('*bold* <!here> evil');
    const marked = JSON.stringify(approvalMessage('C1', hostile, link)).match(/"mrkdwn","text":"[^"]*"/g);
    expect(marked).toEqual([`"mrkdwn","text":"<${link}|payments.refund.create>"`]);
  });

  test('says what would change, what it touches, and whether it can be undone', () => {
    const blocks = blocksOf({
      ...card,
      sandbox: true,
      impact: 'Money leaves the account.',
      reversible: false,
      undo: 'Ask the customer.',
      preview: { before: '{"refunded":0}', after: '{"refunded":2499}' },
      notes: ['It looks like intent 01JD.'],
    });
    const [, , told, change] = blocks.map(({ text }) => text?.text);
    expect(told?.split('\n').slice(1)).toEqual([
      'This is a call to the sandbox: nothing real happens.',
      'Why: It always needs a person.',
      'Impact: Money leaves the account.',
      'It cannot be undone.',
      'How it is undone: Ask the customer.',
      'It looks like intent 01JD.',
    ]);
    expect(change).toBe('Before: {"refunded":0}\nAfter: {"refunded":2499}');
    expect(blocks.at(-1)?.type).toBe('actions');
  });

  test.each([
    ['the change', { preview: { before: 'x'.repeat(3_000), after: '' } }],
    ['the impact', { impact: 'x'.repeat(3_000) }],
  ])('has no buttons where %s does not fit either', (_, over) => {
    expect(blocksOf({ ...card, ...over }).map(({ type }) => type)).not.toContain('actions');
  });

  test('has no buttons where a value of the view or the impact was cut', () => {
    const approval = { ...defaultApproval, view: 'Mail to bob: {{text}}', impact: '{{text}}' };
    const text = `Dear Bob, ${'x'.repeat(500)} and pay it to eve`;
    const view = renderView({ name: 'mail.send', approval }, { text });
    expect(view).not.toContain('eve');
    expect(blocksOf(withView(view)).map(({ type }) => type)).not.toContain('actions');
    const impact = renderImpact({ approval }, { text });
    expect(blocksOf({ ...card, impact }).map(({ type }) => type)).not.toContain('actions');
  });

  test('spells out what cannot be seen in what the upstream and the runtime say', () => {
    const preview = { before: '{"to":"amy"}', after: '{"to":"\u202eeve"}' };
    const texts = blocksOf({ ...card, preview, approval: { ...card.approval, requester: 'a\u200bda' } });
    expect(texts.map(({ text }) => text?.text).join()).toContain('{"to":"\\u{202e}eve"}');
    expect(texts[2]?.text?.text).toContain('Asked for by a\\u{200b}da.');
  });

  test('says how many have to agree', () => {
    const both = { ...card, approval: { ...card.approval, quorum: 2, given: 1 } };
    expect(JSON.stringify(blocksOf(both))).toContain('2 people have to agree, 1 so far, until');
  });

  test('leaves the link out where there is none', () => {
    expect(blocksOf(card, null).map(({ type }) => type)).toEqual(['header', 'section', 'section', 'actions']);
  });

  test('has no buttons where the view does not fit: nobody decides about what is not shown', () => {
    const most = 'x'.repeat(3_000);
    expect(blocksOf(withView(most)).at(-1)?.type).toBe('actions');
    const blocks = blocksOf(withView(`${most}x`));
    expect(blocks.map(({ type }) => type)).not.toContain('actions');
    expect(blocks[1]?.text?.text).toBe(`${'x'.repeat(2_999)}…`);
    expect(blocks[3]?.text?.text).toBe(
      'This is too long to be shown here in full: read it in full and decide about it at the address below.',
    );
    expect(JSON.stringify(blocksOf(withView(`${most}x`), null))).toContain('decide about it over the API.');
  });

  test('keeps to the limits of Slack however much there is to say', () => {
    const why = Array.from({ length: 100 }, (_, i) => `${i} ${'y'.repeat(100)}`);
    const blocks = blocksOf({ ...card, tool: 't'.repeat(200), approval: { ...card.approval, why } });
    for (const { type, text } of blocks)
      expect(text?.text.length ?? 0).toBeLessThanOrEqual(type === 'header' ? 150 : 3_000);
  });
});
