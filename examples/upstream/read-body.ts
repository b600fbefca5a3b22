import type { IncomingMessage } from 'node:http';

const MAX_BYTES = 1024 * 1024;

/** The whole body; null when it is larger than 1 MiB. Rejects when the other side goes away in the middle. */
export async function readBody(request: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= MAX_BYTES) chunks.push(chunk);
  }
  return size > MAX_BYTES ? null : Buffer.concat(chunks);
}
