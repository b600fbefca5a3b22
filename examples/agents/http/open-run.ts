import { call } from './call.js';

/** One run of an agent, as its runtime opened it. The agent gets the token and nothing else. */
export interface OpenRun {
  readonly runId: string;
  readonly token: string;
}

/** Who acts, on whose behalf, and what is permitted. */
export interface Wanted {
  readonly user: string;
  readonly permissions: readonly string[];
  readonly ttl: string;
  /** The most that the run may do. */
  readonly budgets: {
    readonly calls: number;
    readonly mutating: number;
    readonly destructive: number;
    readonly wallClock: string;
  };
}

/** What the trusted runtime does before the model is asked anything: it says who acts and what is permitted. */
export async function openRun(url: string, serviceKey: string, run: Wanted): Promise<OpenRun> {
  const { status, body } = await call<OpenRun>(`${url}/v1/runs`, {
    method: 'POST',
    credential: serviceKey,
    body: { ...run, profile: 'interactive' },
  });
  if (status !== 201) throw new Error(`The run was not opened: ${status} ${JSON.stringify(body)}`);
  return body;
}
