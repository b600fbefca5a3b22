/** An answer to a click, which only whoever clicked sees. */
export interface Answer {
  readonly responseUrl: string;
  readonly text: string;
}

const slackHooks = 'https://hooks.slack.com';

/**
 * Whether an address is one that Slack hands out for answers. It comes with a message of the bus, and whoever can write
 * there must not be able to have anything else called.
 *
 * @param apiUrl where Slack is, for tests
 */
export function mayAnswerAt(responseUrl: string, apiUrl: URL): boolean {
  if (!URL.canParse(responseUrl)) return false;
  const { origin } = new URL(responseUrl);
  return origin === slackHooks || (apiUrl.hostname !== 'slack.com' && origin === apiUrl.origin);
}

/** The body to post there (https://docs.slack.dev/interactivity/handling-user-interaction). */
export function answerBody({ text }: Answer): object {
  const blocks = [{ type: 'section', text: { type: 'plain_text', text: text.slice(0, 3_000), emoji: false } }];
  return { response_type: 'ephemeral', replace_original: false, text: 'Intendant has answered.', blocks };
}

/** An answer as it comes over the bus; null for anything else. */
export function readAnswer(payload: Uint8Array): Answer | null {
  try {
    const { responseUrl, text } = JSON.parse(new TextDecoder().decode(payload)) as Record<string, unknown>;
    return typeof responseUrl === 'string' && typeof text === 'string' ? { responseUrl, text } : null;
  } catch {
    return null;
  }
}
