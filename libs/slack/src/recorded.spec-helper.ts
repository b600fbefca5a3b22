/**
 * The payload of a click on a button, as https://docs.slack.dev/reference/interaction-payloads/block_actions-payload
 * records it for a message (ids and texts are Slack's); only the action is ours.
 */
export function recordedClick(action: Record<string, unknown>, over: Record<string, unknown> = {}) {
  return {
    type: 'block_actions',
    team: { id: 'T0CAG', domain: 'acme-creamery' },
    user: { id: 'U0CA5', username: 'Amy McGee', name: 'Amy McGee', team_id: 'T3MDE' },
    api_app_id: 'A0CA5',
    token: 'Shh_its_a_seekrit',
    container: { type: 'message', text: 'The contents of the original message where the action originated' },
    trigger_id: '12466734323.1395872398',
    response_url: 'https://www.postresponsestome.com/T123567/1509734234',
    actions: [
      {
        type: 'button',
        block_id: 'XG9=a',
        text: { type: 'plain_text', text: 'Button', emoji: false },
        action_ts: '1572000048.172717',
        ...action,
      },
    ],
    ...over,
  };
}

export function asForm(payload: unknown): Buffer {
  return Buffer.from(new URLSearchParams({ payload: JSON.stringify(payload) }).toString());
}
