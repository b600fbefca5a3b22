/**
 * Requests that wait for the result of their job. Server and worker are one process, so the worker hands the result
 * over itself once it is recorded, which is faster than telling it through the database.
 */
export class Waiting {
  /** @type {Map<string, (data: unknown) => void>} */
  #waiting = new Map();

  /**
   * @param {string} id
   * @returns {Promise<unknown>}
   */
  for(id) {
    return new Promise((resolve) => this.#waiting.set(id, resolve));
  }

  /**
   * @param {string} id
   * @param {unknown} data
   */
  settle(id, data) {
    this.#waiting.get(id)?.(data);
    this.#waiting.delete(id);
  }
}

/** Where the two job queues record results: neither keeps one with its job. */
export const createResults = `
  CREATE TABLE results (id text PRIMARY KEY, result jsonb NOT NULL, created_at timestamptz NOT NULL DEFAULT now())`;
