import type { Installation } from './installation.js';

interface Answered {
  readonly status: number;
  readonly body: { readonly intentId: string; readonly status: string };
}

/** Opens a run; returns how its agent submits, waiting up to `wait` for the outcome. */
export async function submitter(installation: Installation) {
  const url = installation.gatewayUrls[0];
  const post = async (where: string, credential: string, body: unknown, headers: Record<string, string> = {}) => {
    const answer = await fetch(url + where, {
      method: 'POST',
      headers: { authorization: `Bearer ${credential}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    return { status: answer.status, body: (await answer.json()) as unknown };
  };
  const opened = await post('/v1/runs', installation.serviceKey, {
    user: 'ada',
    permissions: ['test:use'],
    profile: 'interactive',
    budgets: { calls: 1_000, mutating: 1_000, destructive: 100, wallClock: '1h' },
  });
  const { token } = opened.body as { token: string };
  return async (tool: string, ref: string, wait = '20'): Promise<Answered> => {
    const message = { tool, stepId: ref.replaceAll(' ', '-'), args: { ref, amount: 1 } };
    return (await post('/v1/intents', token, message, { prefer: `wait=${wait}` })) as Answered;
  };
}
