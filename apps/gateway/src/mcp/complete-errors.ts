import { type ErrorObject, errorObject } from '@intendant/contracts';
import { ProtocolErrorCode } from '@modelcontextprotocol/server';

/** How every JSON-RPC error begins that the SDK writes, in a body or in an event. */
const mark = '"error":{"code":-';

interface Answer {
  readonly error?: {
    readonly code: number;
    readonly message: string;
    readonly data?: { readonly error?: ErrorObject };
  };
}

/** An answer of the SDK, with the error object of every other surface in what it refuses by itself. */
export async function completeErrors(response: Response): Promise<Response> {
  const { status, headers, body } = response;
  if (body === null) return response;
  if (headers.get('content-type')?.startsWith('application/json')) {
    return new Response(completed(await response.text()), { status, headers });
  }
  const events = body.pipeThrough(new TextDecoderStream()).pipeThrough(completedEvents());
  return new Response(events.pipeThrough(new TextEncoderStream()), { status, headers });
}

/** Server-sent events, each with its data in one line. */
function completedEvents(): TransformStream<string, string> {
  let rest = '';
  return new TransformStream({
    transform(chunk, controller) {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      if (lines.length > 0) controller.enqueue(lines.map((line) => `${completedLine(line)}\n`).join(''));
    },
    flush(controller) {
      if (rest !== '') controller.enqueue(rest);
    },
  });
}

function completedLine(line: string): string {
  return line.startsWith('data: ') ? `data: ${completed(line.slice('data: '.length))}` : line;
}

function completed(json: string): string {
  if (!json.includes(mark)) return json;
  const answer = JSON.parse(json) as Answer;
  if (answer.error === undefined || answer.error.data?.error !== undefined) return json;
  const { code, message, data } = answer.error;
  const error = errorObject(code === ProtocolErrorCode.InternalError ? 'internal' : 'invalid_message', message);
  return JSON.stringify({ ...answer, error: { ...answer.error, data: { ...data, error } } });
}
