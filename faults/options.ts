import { parseArgs } from 'node:util';
import { type Layer, layers } from './case.js';

export interface Options {
  readonly layers: readonly Layer[];
  readonly seed: number;
  /** Random rounds. */
  readonly rounds: number;
  /** No further case is begun after so many minutes; null for no limit. */
  readonly minutes: number | null;
  /** Rounds at the same time. */
  readonly workers: number;
  /** Whether no further case is begun after one that broke a rule. */
  readonly failFast: boolean;
  /** Whether only a part of the cases runs, in about four minutes. */
  readonly short: boolean;
  /** Names of cases to run, of whatever layer; empty for all. */
  readonly cases: readonly string[];
  /** A file of a case that failed, to run exactly that one again; null for none. */
  readonly replay: string | null;
  /** Whether it is only said what there is. */
  readonly help: boolean;
  /** Whether the cases are only listed. */
  readonly list: boolean;
  /** Whether the mutation gate runs instead: `all`, or names of mutants; null when not. */
  readonly mutants: readonly string[] | null;
  /** Whether every layer tries every mutant, instead of stopping at the first that catches it. */
  readonly allLayers: boolean;
  /** JSON reports of earlier runs to be added up into one, instead of running anything; empty when not. */
  readonly addUp: readonly string[];
  /** Directories of earlier runs whose rounds are judged again, instead of running anything; empty when not. */
  readonly judge: readonly string[];
  /** Where the report goes; null when only to the usual place. */
  readonly json: string | null;
  readonly html: string | null;
}

export const usage = `npm run faults -- [options]
  --layers A,B      only these of ${layers.join(', ')} (docs/fault-testing.md)
  --rounds N        random rounds (10; with --short 2, side by side); without --layers or --case nothing else
  --seed S          of everything random; printed at the start when it is not given
  --case A,B        only these cases, by the names that --list prints
  --list            name all cases, and the stories that wait for their feature
  --replay FILE     run a case that failed again, from the file that its failure named
  --minutes M       begin no further case after so many minutes; with --layers L5, rounds without end until then
  --workers N       rounds at the same time (1)
  --fail-fast       begin no further case after one that broke a rule
  --short           the part that npm test runs
  --mutants [A,B]   the mutation gate instead: plant each bug in a copy of the sources and see that it is caught
  --all-layers      with --mutants: let every layer try, not only until the first has caught it
  --add-up A,B      add reports of earlier runs (JSON) up into one instead
  --judge A,B       judge the rounds of earlier runs (their directories) again instead
  --json FILE       write the report as JSON
  --html FILE       write the report as a page of its own`;

/** More than anybody waits for. */
export const endlessRounds = 10_000;

/** @throws with a message for the user when something is not right. */
export function readOptions(args: readonly string[]): Options {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean' } as const;
  const { values } = parseArgs({
    args: withValue(args, '--mutants', 'all'),
    options: {
      layers: text,
      rounds: text,
      seed: text,
      case: text,
      replay: text,
      minutes: text,
      workers: text,
      short: flag,
      'fail-fast': flag,
      list: flag,
      help: { type: 'boolean', short: 'h' },
      mutants: text,
      'all-layers': flag,
      'add-up': text,
      judge: text,
      json: text,
      html: text,
    },
  });
  const minutes = values.minutes === undefined ? null : whole('--minutes', values.minutes, 1);
  const chosen = some('--layers', values.layers);
  // Rounds without end are what is left when time is the limit.
  const endless = minutes !== null && values.rounds === undefined;
  return {
    layers: chosen.length > 0 ? chosen.map(layerOf) : values.rounds === undefined ? layers : ['L5'],
    seed: values.seed === undefined ? Date.now() % 1_000_000_000 : whole('--seed', values.seed, 0),
    rounds: endless ? endlessRounds : whole('--rounds', values.rounds ?? (values.short ? '2' : '10'), 1),
    minutes,
    workers: whole('--workers', values.workers ?? (values.short ? '2' : '1'), 1),
    failFast: values['fail-fast'] ?? false,
    short: values.short ?? false,
    cases: some('--case', values.case),
    replay: values.replay ?? null,
    help: values.help ?? false,
    list: values.list ?? false,
    mutants: values.mutants === undefined ? null : list(values.mutants),
    allLayers: values['all-layers'] ?? false,
    addUp: some('--add-up', values['add-up']),
    judge: some('--judge', values.judge),
    json: values.json ?? null,
    html: values.html ?? null,
  };
}

/** An option that may stand alone gets the value it then has. */
function withValue(args: readonly string[], name: string, value: string): string[] {
  return args.flatMap((arg, at) => {
    const next = args[at + 1];
    return arg === name && (next === undefined || next.startsWith('--')) ? [arg, value] : [arg];
  });
}

/** @throws when the option is there and names nothing */
function some(option: string, value: string | undefined): string[] {
  const names = list(value);
  if (value !== undefined && names.length === 0) throw new Error(`${option} must name something; got "${value}"`);
  return names;
}

function list(value: string | undefined): string[] {
  return (value ?? '').split(',').flatMap((each) => (each.trim() === '' ? [] : [each.trim()]));
}

function layerOf(name: string): Layer {
  const found = layers.find((layer) => layer === name);
  if (found === undefined) throw new Error(`--layers: there is no layer ${name}; there are ${layers.join(', ')}`);
  return found;
}

function whole(option: string, value: string, least: number): number {
  const number = Number(value);
  if (!Number.isSafeInteger(number) || number < least) {
    throw new Error(`${option} must be a whole number of at least ${least}; got "${value}"`);
  }
  return number;
}
