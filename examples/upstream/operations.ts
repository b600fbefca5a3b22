import type { JsonObject } from './json.js';
import type { OperationState } from './ledger-entry.js';

/** What `GET /operations/{id}` shows; `result` is there once it is done. */
export interface Operation {
  readonly id: string;
  readonly state: OperationState;
  readonly result?: JsonObject;
}

const PATH = /^\/operations\/([^/]+)$/;

/** Requests that were accepted and are carried out later. They live in memory: a restart forgets them. */
export class Operations {
  readonly #known = new Map<string, { readonly key: string | null; operation: Operation }>();
  /** The latest, by path and key of its request. */
  readonly #ids = new Map<string, string>();

  queue(id: string, path: string, key: string | null): void {
    this.#known.set(id, { key, operation: { id, state: 'queued' } });
    if (key !== null) this.#ids.set(`${path} ${key}`, id);
  }

  /** The operation that a repeat of a request is told about. */
  idOf(path: string, key: string | null): string | undefined {
    return this.#ids.get(`${path} ${key}`);
  }

  end(id: string, end: { readonly state: 'done'; readonly result: JsonObject } | { readonly state: 'failed' }): void {
    const known = this.#known.get(id);
    if (known !== undefined) known.operation = { id, ...end };
  }

  /** The operation at a path, with the key of its request. */
  find(path: string): { readonly key: string | null; readonly operation: Operation } | undefined {
    return this.#known.get(PATH.exec(path)?.[1] ?? '');
  }
}
