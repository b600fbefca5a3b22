import { subjects } from '@intendant/contracts';
import { forkPart } from './children.js';
import type { FromLoad, FromServer } from './ipc.js';
import type { LoadJob, Target } from './load-job.js';

const requests = 20_000;
const rehearsal = 5_000;

/** Requests per second that the load generator manages against a responder that does nothing, by protocol. */
export interface Ceiling {
  readonly nats: number;
  readonly http: number;
}

/** The responder shares the machine too, so the generator alone could do more than this. */
export async function measureCeiling(natsUrl: string, concurrency: number): Promise<Ceiling> {
  const subject = `${subjects.rpcSubmit}.ceiling`;
  const responder = await forkPart<never, FromServer>('responder', [natsUrl, subject]);
  const load = await forkPart<LoadJob, FromLoad>('load');
  const rate = async (target: Target) => {
    await load.ask({ target, first: 0, count: rehearsal, concurrency });
    const answer = await load.ask({ target, first: 0, count: requests, concurrency });
    return answer.kind === 'result' ? requests / answer.result.seconds : Number.NaN;
  };
  try {
    const nats = await rate({ protocol: 'nats', url: natsUrl, subject, tokens: ['x'.repeat(300)] });
    return { nats, http: await rate({ protocol: 'http', port: responder.ready.port, path: '/intents' }) };
  } finally {
    await Promise.all([responder.stop(), load.stop()]);
  }
}
