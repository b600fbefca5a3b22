import { type GateLayer, gateLayers, type Trial } from './trial.js';

/** One mutant and what the layers said about it; a layer that did not try it is left out. */
export interface GateRow {
  /** Of the mutant, or `unmutated`. */
  readonly name: string;
  readonly commit: string | null;
  readonly trials: Readonly<Partial<Record<GateLayer, Trial>>>;
}

/** The sources as they are: the layers must find nothing in them, or a finding would mean nothing. */
export const unmutated = 'unmutated';

/** The mutant was caught by a rule; in the sources as they are, nothing was found. */
export function isAsItShouldBe({ name, trials }: GateRow): boolean {
  const results = Object.values(trials).map(({ result }) => result);
  return name === unmutated ? results.every((result) => result === 'held') : results.includes('caught');
}

/** A Markdown table: what each layer took to catch each mutant, and which rules it broke for the first that did. */
export function tableOf(rows: readonly GateRow[]): string {
  const lines = rows.map(({ name, trials }) => [
    name,
    ...gateLayers.map((layer) => cell(layer, trials[layer])),
    rulesOf(trials),
  ]);
  const head = ['mutant', ...gateLayers, 'rule'];
  return [head, head.map(() => '---'), ...lines].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function cell(layer: GateLayer, trial: Trial | undefined): string {
  if (trial === undefined) return '';
  if (trial.result === 'held') return '–';
  if (trial.result === 'broken') return 'could not run';
  const seconds = `${trial.seconds.toFixed(trial.seconds < 10 ? 1 : 0)} s`;
  return layer === 'L5' ? `round ${trial.cases}, ${seconds}` : seconds;
}

function rulesOf(trials: GateRow['trials']): string {
  for (const layer of gateLayers) {
    const trial = trials[layer];
    if (trial?.result === 'caught') return trial.rules.join(', ');
  }
  return '';
}
