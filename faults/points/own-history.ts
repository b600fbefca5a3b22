import type { History } from '../history/history.js';

/** The part of a history that is about some intents, by what the rig calls them: others are still under way. */
export function ownHistory(whole: History, refs: ReadonlySet<string>): History {
  const { database, ledger, bus, clients } = whole;
  const refOf = new Map(
    database.events.flatMap(({ intentId, type, data }) =>
      type === 'recorded' ? [[intentId, String((data as unknown as Recorded).proposal.args.ref)] as const] : [],
    ),
  );
  const own = (intentId: string) => refs.has(refOf.get(intentId) ?? '');
  const intents = database.intents.filter(({ id }) => own(id));
  const keys = new Set(intents.map(({ key }) => key));
  return {
    ...whole,
    clients: clients.filter(({ ref }) => refs.has(ref)),
    ledger: ledger.filter(({ key }) => key !== null && keys.has(key)),
    database: {
      ...database,
      intents,
      events: database.events.filter(({ intentId }) => own(intentId)),
      // The id of a public event begins with its intent's; doorbells are nobody's alone.
      outbox: database.outbox.filter(({ msgId }) => own(msgId.split('-')[0] ?? '')),
      sessions: [],
    },
    bus: { ...bus, consumers: [], published: bus.published.filter(({ intentId }) => own(intentId)) },
    processes: [],
  };
}

interface Recorded {
  readonly proposal: { readonly args: { readonly ref?: unknown } };
}
