import type { ErrorObject, IntentResult } from '@intendant/contracts';
import type { Command } from 'commander';
import { call } from '../client.js';
import { type Flags, Settings } from '../config.js';
import type { Context } from '../context.js';
import { describeEvent, type EventEntry } from '../describe-event.js';
import { showResult } from '../show-result.js';
import { printable } from '../table.js';

interface Action {
  readonly action: string;
  readonly possible: boolean;
  readonly reason: string | null;
}

type DeadLetter = { readonly actions: readonly Action[] } & (
  | { readonly kind: 'intent'; readonly result: IntentResult; readonly events: readonly EventEntry[] }
  | {
      readonly kind: 'message';
      readonly id: string;
      readonly subject: string;
      readonly receivedAt: string;
      readonly error: ErrorObject;
      readonly payload: { readonly bytes: number; readonly text: string };
    }
);

export function addDeadLettersShow(parent: Command, context: Context): void {
  parent
    .command('show')
    .description('what happened, what is known, what can be done')
    .argument('<id>', 'id of an intent or of a message')
    .option('--json', 'print JSON')
    .action(async (id: string, _: unknown, command: Command) => {
      const options = command.optsWithGlobals<Flags & { json?: boolean }>();
      const settings = new Settings(context, options);
      const path = `/v1/dead-letters/${encodeURIComponent(id)}`;
      const letter = await call<DeadLetter>(settings, settings.operatorKey, 'GET', path);
      if (options.json) return context.out(JSON.stringify(letter));
      show(letter, context);
    });
}

function show(letter: DeadLetter, context: Context): void {
  if (letter.kind === 'intent') {
    showResult({ ...context, failed: () => undefined }, letter.result, false);
    context.out('');
    for (const event of letter.events) context.out(describeEvent(event));
  } else {
    context.out(`message  ${letter.id}`);
    context.out(`subject  ${letter.subject}, received ${letter.receivedAt}`);
    context.out(`error    ${letter.error.code}: ${printable(letter.error.message)}`);
    context.out(`payload  ${letter.payload.bytes} bytes: ${printable(letter.payload.text)}`);
  }
  context.out('');
  for (const { action, possible, reason } of letter.actions) {
    context.out(`${action.padEnd(20)}  ${possible ? 'possible' : `not possible: ${reason}`}`);
  }
}
