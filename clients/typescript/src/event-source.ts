export interface Message {
  readonly id: string | null;
  readonly event: string;
  readonly data: string;
}

/**
 * Reads server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html) as they come in chunks of
 * any size. `heard` is called for each chunk, heartbeats too. What was cut in the middle is not given.
 */
export async function* readMessages(body: ReadableStream<Uint8Array>, heard: () => void): AsyncGenerator<Message> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  let lines: string[] = [];
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      heard();
      const text = rest + decoder.decode(value, { stream: true });
      // A line may end in CR LF, and the chunk between them.
      const parts = text.split(/\r\n|\n|\r(?!$)/);
      rest = parts.pop() ?? '';
      for (const line of parts) {
        if (line !== '') lines.push(line);
        else {
          const message = messageOf(lines);
          lines = [];
          if (message) yield message;
        }
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

function messageOf(lines: readonly string[]): Message | null {
  let id: string | null = null;
  let event = 'message';
  const data: string[] = [];
  for (const line of lines) {
    const colon = line.indexOf(':');
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (name === 'id') id = value;
    if (name === 'event') event = value;
    if (name === 'data') data.push(value);
  }
  return data.length === 0 ? null : { id, event, data: data.join('\n') };
}
