import { parseArgs } from 'node:util';
import type { Measured } from './figures.js';
import { isPeer, peerNames } from './peers.js';
import { systemNames } from './systems.js';

export interface Options {
  readonly rounds: number;
  /** Per measurement, after the warm-up. */
  readonly intents: number;
  /** Requests in flight for the highest throughput; a peer gets the number that is best for it instead. */
  readonly concurrency: number;
  /** Requests in flight in further loads of the same measurement, the same for all. */
  readonly furtherConcurrencies: readonly number[];
  /** Requests one at a time, for the latency. */
  readonly singles: number;
  readonly systems: readonly Measured[];
  /** Whether the counts per intent are taken, which takes twenty seconds per system. */
  readonly counts: boolean;
  /** Path, without extension, of the Markdown file whose table is renewed and of the chart beside it; null when none. */
  readonly report: string | null;
  /** Where the figures go as JSON; null when nowhere. */
  readonly json: string | null;
  /** Folder for CPU profiles of the services; null when they are not profiled. */
  readonly profile: string | null;
  /** Whether the short bench that guards the ratios runs instead of the comparison. */
  readonly guard: boolean;
  /** Scenarios to run instead of the comparison; empty for the comparison. */
  readonly scenarios: readonly string[];
  /** Whether scenarios take seconds instead of minutes. */
  readonly quick: boolean;
  /** Intents of the past in the scenario `growth`; null for as many as it wants. */
  readonly fill: number | null;
}

export const usage = `npm run bench -- [options]
  --rounds N        rounds, each measuring every system once (3)
  --intents N       intents per measurement (5000)
  --concurrencies A,B,C
                    requests in flight, one load after the other (256); peers have their best number for the first
  --singles N       requests one at a time, for the latency (300)
  --peers           also measure ${peerNames.join(', ')}; installs them in bench/peers
  --mode M          how Intendant runs: standalone (one process), services (five), both (both)
  --only A,B        only these of ${systemNames.join(', ')} and, with --peers, the peers
  --no-counts       leave out transactions, WAL and messages per intent: saves 20 s per system
  --json FILE       write all figures to FILE
  --report PATH     renew the table in PATH.md and write the chart PATH-chart.svg
  --profile DIR     write CPU profiles of the services to DIR; the figures are worse meanwhile
  --guard           the short bench of npm test instead: fails when a ratio is far from what is published; 2 rounds
                    of 2000 intents, unless told otherwise
  --scenario A,B    run scenarios instead: all, or some of slow-upstream, mixed, runs, tools, replicas, memory, backlog,
                    overload, growth (docs/performance.md)
  --quick           scenarios in seconds and one round: shows that they work, says little
  --fill N          intents of the past in growth (10000000)`;

/** @throws with a message for the user when something is not right. */
export function readOptions(args: readonly string[]): Options {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({
    args: [...args],
    allowNegative: true,
    options: {
      counts: { type: 'boolean' },
      quick: { type: 'boolean' },
      guard: { type: 'boolean' },
      scenario: text,
      fill: text,
      rounds: text,
      intents: text,
      concurrencies: text,
      singles: text,
      peers: { type: 'boolean' },
      report: text,
      mode: text,
      only: text,
      json: text,
      profile: text,
    },
  });
  const guard = values.guard ?? false;
  refuseTogether(values);
  const [concurrency = 0, ...furtherConcurrencies] = concurrencies(values.concurrencies ?? '256');
  return {
    rounds: whole('rounds', values.rounds ?? (guard ? '2' : '3')),
    intents: whole('intents', values.intents ?? (guard ? '2000' : '5000')),
    concurrency,
    furtherConcurrencies,
    singles: whole('singles', values.singles ?? '300'),
    systems: chosen(values.mode ?? 'both', values.only, values.peers ?? false),
    report: values.report ?? null,
    counts: values.counts ?? true,
    json: values.json ?? null,
    profile: values.profile ?? null,
    guard,
    scenarios: values.scenario?.split(',') ?? [],
    quick: values.quick ?? false,
    fill: values.fill === undefined ? null : whole('fill', values.fill),
  };
}

/** What would be ignored silently looks like a result that it is not. */
function refuseTogether(values: Readonly<Record<string, unknown>>): void {
  const given = (name: string) => values[name] !== undefined;
  for (const name of ['quick', 'fill'].filter(given)) {
    if (!given('scenario')) throw new Error(`--${name} is for scenarios: name some with --scenario`);
  }
  for (const name of ['scenario', 'peers', 'report', 'only'].filter(given)) {
    if (given('guard')) throw new Error(`--guard runs alone: leave out --${name}`);
  }
  for (const name of ['peers', 'report', 'only'].filter(given)) {
    if (given('scenario')) throw new Error(`--scenario measures Intendant alone: leave out --${name}`);
  }
}

function chosen(mode: string, only: string | undefined, withPeers: boolean): Measured[] {
  if (!['standalone', 'services', 'both'].includes(mode))
    throw new Error(`--mode ${mode}: standalone, services or both`);
  const known: readonly Measured[] = withPeers ? [...systemNames, ...peerNames] : systemNames;
  const names = only?.split(',');
  const unknown = names?.find((name) => !known.some((each) => each === name));
  if (unknown !== undefined) {
    const hint = isPeer(unknown) ? 'it needs --peers' : `one of ${known.join(', ')}`;
    throw new Error(`--only ${unknown}: ${hint}`);
  }
  const otherMode = { standalone: 'services', services: 'standalone', both: undefined }[mode];
  const left = known.filter((name) => name !== otherMode && (names?.includes(name) ?? true));
  if (left.length === 0) throw new Error(`--mode ${mode} and --only ${only}: nothing is left to measure`);
  return left;
}

function concurrencies(value: string): number[] {
  const list = value.split(',').map((each) => whole('concurrencies', each));
  if (new Set(list).size < list.length) throw new Error(`--concurrencies ${value}: each number once`);
  return list;
}

function whole(name: string, value: string): number {
  if (!/^[1-9]\d*$/.test(value)) throw new Error(`--${name} ${value}: a whole number above 0`);
  return Number(value);
}
