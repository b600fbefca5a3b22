/**
 * The database could not be reached, or did not say whether it committed. Sending the same command again is safe:
 * commands are idempotent by their id, intents by their key.
 */
export class StoreUnavailable extends Error {
  override readonly name: string = 'StoreUnavailable';
}

/** Others were faster each time; nothing was written. */
export class Contended extends StoreUnavailable {
  override readonly name = 'Contended';
}

/** The database cannot be used as it is: wrong address, password or schema. The message says what to do. */
export class StoreUnusable extends Error {
  override readonly name = 'StoreUnusable';
}

interface PgError {
  readonly code?: string;
  readonly name?: string;
  readonly constraint?: string;
  readonly driverError?: unknown;
}

/**
 * Errors after which nobody knows whether the statement took effect, or that pass by themselves: connection
 * (class 08), login and database (28, 3D: both were right at the start), shutdown (57P), resources (53), serialization
 * and deadlock (40), read-only standby (25006), socket errors, and the driver's own errors, which carry no code and have no class of their own, unlike those of a bug.
 */
export function isTransient(error: unknown): boolean {
  // TypeORM wraps what the driver throws.
  const { code, name, constraint } = ((error as PgError).driverError ?? error) as PgError;
  if (code === undefined) return name === 'Error';
  // Late evidence takes its operation back in the moment in which somebody else takes it.
  if (code === '23505' && constraint === 'one_intent_per_operation') return true;
  // A SQLSTATE has a digit in it; EPIPE, just as long, has none.
  return !/^(?=.*\d)[0-9A-Z]{5}$/.test(code) || /^(08|28|3D|40|53|57|25006)/.test(code);
}

/** Runs a query; a database that is away is told as `StoreUnavailable`. */
export async function answering<T>(query: () => Promise<T>): Promise<T> {
  try {
    return await query();
  } catch (error) {
    if (!isTransient(error)) throw error;
    throw new StoreUnavailable(`the database did not answer: ${(error as Error).message}`, { cause: error });
  }
}
