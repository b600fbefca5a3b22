import { isUtf8 } from 'node:buffer';
import { Refusal } from '@intendant/contracts';
import { scanJson } from '@intendant/tools';
import { Unparsable } from './unparsable.js';

/**
 * The one message of a body, as its sender wrote it: whatever a parser would change silently is refused here, since the
 * service that admits a call gets to see only what was parsed.
 *
 * @throws Refusal `invalid_message`; Unparsable
 */
export function readBody(body: Buffer): unknown {
  if (!isUtf8(body)) throw new Unparsable('The body is not UTF-8 text.');
  const text = body.toString('utf8');
  const { problems, tooDeep } = scanJson(text);
  if (tooDeep) throw refusal(problems);
  const message = parse(text);
  if (problems.length > 0) throw refusal(problems);
  if (!Array.isArray(message)) return message;
  throw new Refusal('invalid_message', 'Batches are no part of this protocol: send one message at a time.');
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Unparsable('The body is not JSON.');
  }
}

function refusal(problems: ReturnType<typeof scanJson>['problems']): Refusal {
  const [first] = problems;
  return new Refusal(
    'invalid_message',
    `The message cannot be taken as it is written: at ${first?.pointer.slice(0, 200)} expected ${first?.expected}, got ${first?.got}. Nothing was recorded.`,
    { problems: problems.map((problem) => ({ ...problem })) },
  );
}
