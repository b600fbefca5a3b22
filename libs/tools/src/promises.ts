import type { Guarantee } from '@intendant/intent';
import type { Environment } from './environment.js';
import { ToolSource } from './tool-source.js';

/** A time that a tool file declares, and how its author knows it; `default`: the file says nothing. */
export interface DeclaredDuration {
  readonly ms: number;
  readonly basis: 'measured' | 'documented' | 'assumed' | 'default';
}

/** What a tool file promises in the name of the upstream, as written; what follows from it is in `Terms`. */
export interface Promises {
  readonly guarantee: Guarantee;
  /** Null where the guarantee is not `idempotency_key`. */
  readonly keyRetention: DeclaredDuration | null;
  readonly maxProcessing: DeclaredDuration;
  /** Null without a lookup. */
  readonly lag: DeclaredDuration | null;
}

/**
 * Reads the promises of a tool file that `parseToolFile` has found to be good.
 *
 * @throws ToolFileError when the text is not one YAML mapping
 */
export function readPromises(file: string, text: string, env: Environment): Promises {
  const source = new ToolSource(file, text, env);
  const declared = (path: readonly string[], fallback: string): DeclaredDuration => {
    const basis = source.value(...path) === undefined ? 'default' : (source.text(...path, 'basis') ?? 'documented');
    return { ms: source.duration(path, fallback), basis: basis as DeclaredDuration['basis'] };
  };
  const guarantee = (source.text('upstream', 'guarantee') ?? 'none') as Guarantee;
  return {
    guarantee,
    keyRetention: guarantee === 'idempotency_key' ? declared(['upstream', 'keyRetention'], '0s') : null,
    maxProcessing: declared(['upstream', 'maxProcessing'], '10s'),
    lag: source.object('upstream', 'lookup') === null ? null : declared(['upstream', 'lookup', 'lag'], '0s'),
  };
}
