import type { Environment } from '@intendant/runtime';

/** Everything a command knows of the world around it, so that it runs the same in a terminal and in a test. */
export interface Context {
  readonly env: Environment;
  /** Where `.intendant/` is looked for. */
  readonly directory: string;
  /** Of the installation. */
  readonly version: string;
  /** Script that runs the reconciler. */
  readonly reconciler: string;
  /** Script that makes one call for `tools certify`, and can be killed in the middle. */
  readonly callWorker: string;
  readonly out: (line: string) => void;
  readonly err: (line: string) => void;
  /** All of standard input. */
  readonly input: () => Promise<string>;
  /** The command was carried out, and what it found is a failure: exit status 1 at the end. */
  readonly failed: () => void;
}
