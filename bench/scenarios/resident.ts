import type { Child } from '../children.js';
import { residentMiB } from '../process-tree.js';

/** Resident memory of processes by name, sampled while something goes on. */
export class Resident {
  readonly samples: Record<string, number>[] = [];
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly processes: ReadonlyMap<string, Child>,
    private readonly everyMs = 250,
  ) {}

  start(): this {
    this.timer = setInterval(() => this.samples.push(residentOf(this.processes)), this.everyMs);
    return this;
  }

  stop(): this {
    clearInterval(this.timer);
    this.samples.push(residentOf(this.processes));
    return this;
  }

  /** The greatest in a part of the time, by process; `from` and `to` between 0 and 1. In MiB. */
  greatest(from: number, to: number): Record<string, number> {
    const part = this.samples.slice(Math.floor(from * this.samples.length), Math.ceil(to * this.samples.length));
    const names = Object.keys(this.samples.at(-1) ?? {});
    return Object.fromEntries(names.map((name) => [name, Math.max(...part.map((sample) => sample[name] ?? 0))]));
  }

  /** The process that grew most from the first half of the time to the second, and by what factor. */
  growth(): { readonly name: string; readonly factor: number } {
    const [early, late] = [this.greatest(0, 0.5), this.greatest(0.5, 1)];
    const factors = Object.keys(late).map((name) => ({ name, factor: (late[name] ?? 0) / (early[name] ?? 0) }));
    return factors.reduce((most, each) => (each.factor > most.factor ? each : most), { name: '', factor: 0 });
  }
}

export function residentOf(processes: ReadonlyMap<string, Child>): Record<string, number> {
  return Object.fromEntries([...processes].map(([name, { pid }]) => [name, residentMiB(pid)]));
}
