import {
  type EntryOf,
  type LedgerEntry,
  type LedgerKind,
  type LedgerLine,
  type LedgerMatch,
  type Stamp,
  select,
} from './ledger-entry.js';
import { LedgerFile } from './ledger-file.js';
import { MachineTime } from './machine-time.js';

interface Waiter {
  check(): void;
  fail(reason: string): void;
}

const time = new MachineTime();
const now = () => time.now();

/** What really happened, as the outside world tells it: the judge of every promise made upstream of here. */
export class Ledger {
  readonly #entries: LedgerEntry[] = [];
  readonly #effects = new Map<string, EntryOf<'effect'>[]>();
  readonly #file: LedgerFile | null;
  readonly #waiters = new Set<Waiter>();

  /** With a file, goes on where the file ends: an upstream does not forget its effects when it restarts. */
  constructor(path?: string) {
    this.#file = path === undefined ? null : new LedgerFile(path);
    for (const line of this.#file?.found ?? []) this.#keep(JSON.parse(line) as LedgerEntry);
  }

  /** A copy; oldest first. */
  entries(): LedgerEntry[] {
    return [...this.#entries];
  }

  /** Effects of one key, oldest first. */
  effects(path: string, key: string): readonly EntryOf<'effect'>[] {
    return this.#effects.get(`${path} ${key}`) ?? [];
  }

  append<T extends LedgerLine>(line: T): T & Stamp {
    const entry = { ...line, seq: this.#entries.length + 1, at: now() };
    this.#file?.append(JSON.stringify(entry));
    this.#keep(entry);
    for (const waiter of this.#waiters) waiter.check();
    return entry;
  }

  /** How long ago an effect came into being, in ms. */
  ageOf(effect: EntryOf<'effect'>): number {
    return now() - effect.at;
  }

  /** The matching lines as soon as there are `count` of them, old ones included; rejects after `timeoutMs`. */
  wait<K extends LedgerKind>(kind: K, match: LedgerMatch, timeoutMs: number): Promise<EntryOf<K>[]> {
    const wanted = match.count ?? 1;
    return new Promise((resolve, reject) => {
      const settle = (act: () => void) => {
        clearTimeout(timer);
        this.#waiters.delete(waiter);
        act();
      };
      const waiter: Waiter = {
        check: () => {
          const found = select(this.#entries, kind, match);
          if (found.length >= wanted) settle(() => resolve(found));
        },
        fail: (reason) => {
          const found = select(this.#entries, kind, match).length;
          const sought = `${wanted} ${kind} line(s) ${JSON.stringify(match)}`;
          settle(() => reject(new Error(`${reason} while waiting for ${sought}; the ledger has ${found}`)));
        },
      };
      const timer = setTimeout(() => waiter.fail(`${timeoutMs} ms passed`), timeoutMs);
      this.#waiters.add(waiter);
      waiter.check();
    });
  }

  close(): void {
    for (const waiter of this.#waiters) waiter.fail('the upstream closed');
    this.#file?.close();
  }

  #keep(entry: LedgerEntry): void {
    this.#entries.push(entry);
    if (entry.kind !== 'effect' || entry.key === null) return;
    const name = `${entry.path} ${entry.key}`;
    const known = this.#effects.get(name);
    if (known === undefined) this.#effects.set(name, [entry]);
    else known.push(entry);
  }
}
