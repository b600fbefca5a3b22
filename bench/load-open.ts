import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import { Frames } from './frames.js';
import type { OpenJob } from './load-job.js';
import { NatsConnection } from './nats-connection.js';
import type { NatsMessage } from './nats-messages.js';
import { type Answer, OpenLoop, type OpenResult } from './open-loop.js';
import { type BenchRequest, requestOf } from './requests.js';

/** How long answers may stay out after the last request was sent; longer than any caller waits. */
const patienceMs = 15_000;
/** Time to connect and to get warm before the first arrival. */
const leadMs = 50;

const storedMark = Buffer.from('"seq":');
const recordedMark = Buffer.from('"intentId":"');
const unavailableMark = Buffer.from('"code":"unavailable"');

/** Sends on a schedule; the bytes are made a moment before, since those of a whole minute would not fit in memory. */
export async function loadOpen({ target, first, phases, as, blend }: OpenJob): Promise<OpenResult> {
  const loop = new OpenLoop(phases, performance.now() + leadMs);
  const kindOf = as === 'publish' ? kindOfPublished : kindOfAnswered;
  const connection = await NatsConnection.open(target.url, (index, message) => {
    loop.answer(index, kindOf(message, requestOf(first + index, blend)), performance.now(), () =>
      message.body.toString(),
    );
  });
  const frames = new Frames(target.subject, connection.inbox, target.tokens, as === 'request');
  const make = (index: number) => frames.of(requestOf(first + index, blend), index);
  const sending = (async () => {
    let next = make(0);
    for (let index = 0; index < loop.count; ) {
      const now = performance.now();
      connection.together(() => {
        for (; loop.dueAt(index) <= now; index += 1) {
          connection.write(next);
          loop.sent(index, now);
          next = make(index + 1);
        }
      });
      const pause = loop.dueAt(index) - performance.now();
      // Timers are up to a millisecond late; the rest of the way is spent looking at the clock.
      if (pause > 2) await wait(Math.min(pause, 1_000) - 1);
      else await nextTurn();
    }
    const deadline = performance.now() + patienceMs;
    while (!loop.finished && performance.now() < deadline) await wait(5);
  })();
  try {
    await Promise.race([sending, connection.broken]);
    return loop.result();
  } finally {
    connection.close();
  }
}

function kindOfAnswered({ body, hasHeaders }: NatsMessage, { mark }: BenchRequest): Answer {
  if (hasHeaders) return body.includes(unavailableMark) ? 'unavailable' : 'wrong';
  if (body.includes(mark)) return 'settled';
  return body.includes(recordedMark) ? 'kept' : 'wrong';
}

/** JetStream answers with a sequence number once it has stored the message, and with an error when it is full. */
function kindOfPublished({ body, hasHeaders }: NatsMessage): Answer {
  if (hasHeaders) return 'wrong';
  return body.includes(storedMark) && !body.includes('"error"') ? 'kept' : 'unavailable';
}
