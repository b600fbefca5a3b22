import { subjects } from '@intendant/contracts';
import { approvalMessage, type SlackPosting } from '@intendant/slack';
import type { Postman } from '@intendant/upstream';
import type { CardReader } from './cards.js';
import type { Channel, Sent } from './channel.js';

/** An answer repeats the whole message. */
const answerBytes = 256 * 1024;

/**
 * The Slack channel of each tenant that has one. It is told of what waits for approval, as it is asked when it is told: an
 * event that was overtaken by another is told as the other.
 */
export function slackChannels(
  { botToken, channels, apiUrl }: SlackPosting,
  cards: CardReader,
  postman: Postman,
): Channel[] {
  const url = new URL('chat.postMessage', apiUrl);
  const headers = { Authorization: `Bearer ${botToken}` };
  return [...channels].map(([tenant, channel]) => ({
    name: `slack-${tenant}`,
    subjects: [subjects.event(tenant, '*', '*', 'approval_requested')],
    send: async ({ subject, link }) => {
      const card = await cards.cardOf(subject);
      if (card === null) return { kind: 'outdated' };
      const body = JSON.stringify(approvalMessage(channel, card, link ?? null));
      const reply = await postman.post({ url, headers, body, answerBytes });
      if (reply.kind === 'failed') return { kind: 'failed', why: reply.why, retryAfterMs: null };
      const { status, retryAfterMs } = reply;
      return status === 200 ? said(reply.body) : { kind: 'failed', why: `http_${status}`, retryAfterMs };
    },
  }));
}

/** Slack says what is wrong in a body with status 200. Most of it a person can mend, so it is tried again. */
function said(body: string): Sent {
  try {
    const { ok, error } = JSON.parse(body) as { ok?: unknown; error?: unknown };
    if (ok === true) return { kind: 'delivered' };
    const why = typeof error === 'string' && /^[a-z_]{1,60}$/.test(error) ? `slack_${error}` : 'slack_error';
    return { kind: 'failed', why, retryAfterMs: null };
  } catch {
    return { kind: 'failed', why: 'bad_response', retryAfterMs: null };
  }
}
