import { mayBeCut, spelledOut, type WaitingApproval } from '@intendant/contracts';

/** What people are asked about one intent, and the digest of exactly that. All of it is of one moment. */
export interface BriefCard {
  readonly intentId: string;
  readonly tool: string;
  readonly digest: string;
  readonly approval: WaitingApproval;
  /** Nothing real happens. */
  readonly sandbox: boolean;
  readonly impact: string | null;
  /** Null: nobody has said. */
  readonly reversible: boolean | null;
  readonly undo: string | null;
  /** What the upstream says would change, as JSON. Null: the tool cannot say, or has not said yet. */
  readonly preview: { readonly before: string; readonly after: string } | null;
  /** Something else that the person should know, a sentence each. */
  readonly notes: readonly string[];
}

/** Longest text of one block (https://docs.slack.dev/reference/block-kit/blocks/section-block). */
const longestText = 3_000;

type Block = Readonly<Record<string, unknown>>;

/**
 * The body of `chat.postMessage` (https://docs.slack.dev/reference/methods/chat.postMessage). What a model may have
 * chosen is in blocks of plain text only, where nothing is a link, a mention or an emoji. What does not fit, or was cut, comes
 * without buttons: nobody decides here about what is not shown.
 */
export function approvalMessage(channel: string, card: BriefCard, link: string | null): object {
  const { tool, approval } = card;
  const texts = [approval.view, facts(card), ...(card.preview === null ? [] : [changes(card.preview)])];
  const fits = texts.every((text) => text.length <= longestText) && !mayBeCut(`${approval.view} ${card.impact}`);
  return {
    channel,
    text: `${tool} waits for approval.`,
    unfurl_links: false,
    unfurl_media: false,
    blocks: [
      { type: 'header', text: plain(shortened(`${tool} waits for approval`, 150)) },
      ...texts.map((text) => section(shortened(text, longestText))),
      ...(fits ? [] : [section(tooLong(link))]),
      ...(link === null
        ? []
        : [{ type: 'context', elements: [{ type: 'mrkdwn', text: `<${encodeURI(link)}|${tool}>` }] }]),
      ...(fits ? [buttons(card)] : []),
    ],
  };
}

function facts({ approval, sandbox, impact, reversible, undo, notes }: BriefCard): string {
  const { requester, expiresAt, quorum, given, why } = approval;
  const needed = quorum === 1 ? 'One person has to agree' : `${quorum} people have to agree, ${given} so far`;
  return [
    `Asked for by ${spelledOut(requester)}. ${needed}, until ${expiresAt}.`,
    ...(sandbox ? ['This is a call to the sandbox: nothing real happens.'] : []),
    ...why.map((each) => `Why: ${each}`),
    ...(impact === null ? [] : [`Impact: ${impact}`]),
    ...(reversible === null ? [] : [reversible ? 'It can be undone.' : 'It cannot be undone.']),
    ...(undo === null ? [] : [`How it is undone: ${undo}`]),
    ...notes,
  ].join('\n');
}

function changes({ before, after }: NonNullable<BriefCard['preview']>): string {
  return `Before: ${spelledOut(before)}\nAfter: ${spelledOut(after)}`;
}

function tooLong(link: string | null): string {
  const where = link === null ? 'over the API' : 'at the address below';
  return `This is too long to be shown here in full: read it in full and decide about it ${where}.`;
}

function buttons({ intentId, digest }: BriefCard): Block {
  const value = JSON.stringify({ id: intentId, digest });
  const button = (action: string, label: string, style: string) => ({
    type: 'button',
    action_id: action,
    text: plain(label),
    style,
    value,
  });
  return {
    type: 'actions',
    elements: [button('approve', 'Approve', 'primary'), button('refuse', 'Refuse', 'danger')],
  };
}

function section(text: string): Block {
  return { type: 'section', text: plain(text) };
}

function plain(text: string): Block {
  return { type: 'plain_text', text, emoji: false };
}

function shortened(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}
