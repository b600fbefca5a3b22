import { evolve, type Intent, type IntentEvent } from '@intendant/intent';
import type { StreamRow } from './sql/load-streams.js';

/** One intent as it stands in the log, with what is needed to tell whether a command has been applied already. */
export interface Stream {
  readonly intent: Intent;
  readonly commands: ReadonlySet<string>;
  /** Late evidence in it, and which command brought it. */
  readonly corrections?: readonly { readonly commandId: string; readonly event: Corrected }[];
}

export type Corrected = Extract<IntentEvent, { type: 'corrected' }>;

interface Folding extends Stream {
  readonly commands: Set<string>;
  readonly corrections: { commandId: string; event: Corrected }[];
}

/**
 * Folds rows that lie in stream order. A stream that cannot be folded, such as one with an event that only a later
 * version knows, is an error of its own: whoever happens to be loaded with it is not affected.
 */
export function foldRows(rows: readonly StreamRow[]): Map<string, Stream | Error> {
  const streams = new Map<string, Folding | Error>();
  for (const row of rows) {
    if (row.intent_id === null) continue;
    const stream = streams.get(row.intent_id);
    if (stream instanceof Error) continue;
    try {
      const event = { type: row.type, ...row.data } as IntentEvent;
      const intent = evolve(stream?.intent ?? null, event, Math.round(row.at));
      const { commands, corrections }: Pick<Folding, 'commands' | 'corrections'> = stream ?? {
        commands: new Set(),
        corrections: [],
      };
      commands.add(row.command_id);
      if (event.type === 'corrected') corrections.push({ commandId: row.command_id, event });
      streams.set(row.intent_id, { intent, commands, corrections });
    } catch (error) {
      const message = `intent ${row.intent_id} cannot be read, version ${row.version}: ${(error as Error).message}`;
      streams.set(row.intent_id, new Error(message, { cause: error }));
    }
  }
  return streams;
}
