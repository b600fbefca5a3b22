export interface Frame {
  readonly id: string | null;
  readonly event: string | null;
  // biome-ignore lint/suspicious/noExplicitAny: events of every kind are compared as they come
  readonly data: any;
}

/** Server-sent events as they come; a comment is not one. Ends with the response. */
export async function* frames(response: Response): AsyncGenerator<Frame> {
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk as Uint8Array, { stream: true });
    for (let at = text.indexOf('\n\n'); at >= 0; at = text.indexOf('\n\n')) {
      const lines = text.slice(0, at).split('\n');
      text = text.slice(at + 2);
      const field = (name: string) =>
        lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2) ?? null;
      const data = field('data');
      if (data !== null) yield { id: field('id'), event: field('event'), data: JSON.parse(data) };
    }
  }
}

/** The first `count` frames, or all there are until the response ends. */
export async function take(response: Response, count = Number.POSITIVE_INFINITY): Promise<Frame[]> {
  const taken: Frame[] = [];
  for await (const frame of frames(response)) {
    taken.push(frame);
    if (taken.length >= count) break;
  }
  return taken;
}
