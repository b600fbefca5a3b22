import { ClosedLoop } from './closed-loop.js';
import { Frames } from './frames.js';
import type { LoadJob, LoadResult, Target } from './load-job.js';
import { NatsConnection } from './nats-connection.js';
import { requestOf } from './requests.js';

/** Requests over one NATS connection, with all bytes made beforehand. */
export async function loadNats(job: LoadJob, target: Extract<Target, { protocol: 'nats' }>): Promise<LoadResult> {
  const { first, count, concurrency, blend = 'plain' } = job;
  const requests = Array.from({ length: count }, (_, i) => requestOf(first + i, blend));
  const loop = new ClosedLoop(count);
  const connection = await NatsConnection.open(target.url, (index, { body, hasHeaders }) => {
    const right = !hasHeaders && requests[index] !== undefined && body.includes(requests[index].mark);
    loop.answer(index, right ? null : body.toString());
    sendNext();
  });
  const frames = new Frames(target.subject, connection.inbox, target.tokens, true);
  const bytes = requests.map((request, index) => frames.of(request, index));
  loop.begin();
  function sendNext(): void {
    const index = loop.take();
    const frame = index === null ? undefined : bytes[index];
    if (frame) connection.write(frame);
  }
  connection.together(() => {
    for (let i = 0; i < concurrency; i += 1) sendNext();
  });
  try {
    return await Promise.race([loop.finished, connection.broken]);
  } finally {
    connection.close();
  }
}
