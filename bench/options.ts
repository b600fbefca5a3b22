import { parseArgs } from 'node:util';
import { type SystemName, systemNames } from './systems.js';

export interface Options {
  readonly rounds: number;
  /** Per measurement, after the warm-up. */
  readonly intents: number;
  /** Requests in flight. */
  readonly concurrency: number;
  readonly systems: readonly SystemName[];
  /** Whether the counts per intent are taken, which takes twenty seconds per system. */
  readonly counts: boolean;
  /** Where the figures go as JSON; null when nowhere. */
  readonly json: string | null;
  /** Folder for CPU profiles of the services; null when they are not profiled. */
  readonly profile: string | null;
}

export const usage = `npm run bench -- [options]
  --rounds N        rounds, each measuring every system once (3)
  --intents N       intents per measurement (5000)
  --concurrency N   requests in flight (256)
  --mode M          how Intendant runs: standalone (one process), services (five), both (both)
  --only A,B        only these of ${systemNames.join(', ')}
  --no-counts       leave out transactions, WAL and messages per intent: saves 20 s per system
  --json FILE       write all figures to FILE
  --profile DIR     write CPU profiles of the services to DIR; the figures are worse meanwhile`;

/** @throws with a message for the user when something is not right. */
export function readOptions(args: readonly string[]): Options {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({
    args: [...args],
    allowNegative: true,
    options: {
      counts: { type: 'boolean' },
      rounds: text,
      intents: text,
      concurrency: text,
      mode: text,
      only: text,
      json: text,
      profile: text,
    },
  });
  return {
    rounds: whole('rounds', values.rounds ?? '3'),
    intents: whole('intents', values.intents ?? '5000'),
    concurrency: whole('concurrency', values.concurrency ?? '256'),
    systems: chosen(values.mode ?? 'both', values.only),
    counts: values.counts ?? true,
    json: values.json ?? null,
    profile: values.profile ?? null,
  };
}

function chosen(mode: string, only: string | undefined): SystemName[] {
  if (!['standalone', 'services', 'both'].includes(mode))
    throw new Error(`--mode ${mode}: standalone, services or both`);
  const names = only?.split(',');
  const unknown = names?.find((name) => !systemNames.some((known) => known === name));
  if (unknown !== undefined) throw new Error(`--only ${unknown}: one of ${systemNames.join(', ')}`);
  const ofMode = systemNames.filter((name) => name === 'afternoon' || mode === 'both' || mode === name);
  const left = ofMode.filter((name) => names?.includes(name) ?? true);
  if (left.length === 0) throw new Error(`--mode ${mode} and --only ${only}: nothing is left to measure`);
  return left;
}

function whole(name: string, value: string): number {
  if (!/^[1-9]\d*$/.test(value)) throw new Error(`--${name} ${value}: a whole number above 0`);
  return Number(value);
}
