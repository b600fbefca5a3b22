import { Controller, Get, Header, Module } from '@nestjs/common';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

/** All metrics of the process; not the library's global registry, which anybody's code could fill. */
const registry = new Registry();

/** Labels come from tool files, never from callers: a label with an id would fill the memory of everybody who scrapes. */
interface Description<Label extends string> {
  readonly name: `intendant_${string}`;
  readonly help: string;
  readonly labels: readonly Label[];
}

/** Something that only grows. To be made once, when its file is loaded. */
export function counter<L extends string>({ name, help, labels }: Description<L>): Counter<L> {
  return new Counter({ name, help, labelNames: labels, registers: [registry] });
}

/** Something that goes up and down. */
export function gauge<L extends string>({ name, help, labels }: Description<L>): Gauge<L> {
  return new Gauge({ name, help, labelNames: labels, registers: [registry] });
}

/** Durations in seconds, as Prometheus wants them. */
export function histogram<L extends string>(
  { name, help, labels }: Description<L>,
  buckets: readonly number[],
): Histogram<L> {
  return new Histogram({ name, help, labelNames: labels, buckets: [...buckets], registers: [registry] });
}

/**
 * `make` for each different list of labels once: finding the child of a metric costs more than counting with it.
 * Labels are known tools and closed sets, so what is kept is bounded.
 */
export function perLabels<L extends string[], T>(make: (...labels: L) => T): (...labels: L) => T {
  const made = new Map<string, T>();
  return (...labels) => {
    const key = labels.join('\n');
    let child = made.get(key);
    if (child === undefined) {
      child = make(...labels);
      made.set(key, child);
    }
    return child;
  };
}

@Controller()
class MetricsController {
  /** In the text format of Prometheus. */
  @Get('metrics')
  @Header('Content-Type', registry.contentType)
  read(): Promise<string> {
    return registry.metrics();
  }
}

/** Serves `/metrics`, with those of Node itself from the moment a service is assembled. */
@Module({ controllers: [MetricsController] })
export class MetricsModule {
  constructor() {
    if (!registry.getSingleMetric('process_cpu_seconds_total')) collectDefaultMetrics({ register: registry });
  }
}
