import type { Addressed, Publish, Store } from '@intendant/store';
import type { Gates, Life } from './gates.js';

/** What the services await of the store, by its parts. */
const awaited: Readonly<Record<string, readonly string[]>> = {
  door: ['execute'],
  intents: ['load', 'stillAuthorized', 'cancelRequested', 'findByKey'],
  sweeps: ['claimDue', 'giveBack', 'expired', 'announceAgain'],
  runs: ['recall'],
  receipts: ['claim'],
  outbox: ['relay'],
};

/** The store as one life of a replica sees it: each call waits for its turn, and so does the answer of a change. */
export function gatedStore(store: Store, who: Life, gates: Gates): Store {
  const part = (name: string, whole: object) =>
    new Proxy(whole, {
      get: (target, property) => {
        const value: unknown = Reflect.get(target, property, target);
        if (typeof value !== 'function') return value;
        const method = value.bind(target) as (...args: unknown[]) => Promise<unknown>;
        if (!awaited[name]?.includes(String(property))) return method;
        return async (...args: unknown[]) => {
          const what = `${name}.${String(property)}${described(args)}`;
          await gates.pass(who, what);
          const result = await gates.work(() => method(...args));
          if (name === 'door') await gates.pass(who, `${what}, answered`);
          return result;
        };
      },
    });
  return new Proxy(store, {
    get: (target, property) => {
      const value: unknown = Reflect.get(target, property, target);
      return String(property) in awaited ? part(String(property), value as object) : value;
    },
  });
}

function described([first]: readonly unknown[]): string {
  if (typeof first === 'string') return ` ${first}`;
  const { command, intentId } = (first ?? {}) as Partial<Addressed>;
  if (command) return ` ${command.type} ${intentId}`;
  return '';
}

/** How a relay publishes: the rows stay locked while it waits. */
export function gatedPublish(publish: Publish, who: Life, gates: Gates): Publish {
  return async (messages) => {
    const what = `publish ${messages.length} messages`;
    await gates.passWithin(who, what);
    const published = await publish(messages);
    await gates.passWithin(who, `${what}, acknowledged`);
    return published;
  };
}
