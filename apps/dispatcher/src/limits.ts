import type { ToolDefinition } from '@intendant/contracts';
import { gauge, Slots, takeEach, tryTakeEach } from '@intendant/runtime';

/** Open attempts of this process over all tools. */
const maxOpen = 512;

const openAttempts = gauge({
  name: 'intendant_open_attempts',
  help: 'Attempts that are open at an upstream, over all its tools.',
  labels: ['upstream'],
});

interface OfTool {
  readonly own: Slots;
  readonly upstream: Slots;
  /** What an attempt needs one of each from: the narrowest first, so that nobody waits holding what others could use. */
  readonly all: readonly Slots[];
  readonly open: { inc(): void; dec(): void };
}

/**
 * How many attempts are open at once in this process: of one tool, of one upstream over all its tools, and in all. Whose
 * upstream is full waits; everybody else goes on.
 */
export class Limits {
  private readonly open = new Slots(maxOpen);
  private readonly byTool: ReadonlyMap<string, OfTool>;

  constructor(tools: readonly ToolDefinition[]) {
    const upstreams = new Map([...concurrencies(tools)].map(([name, limit]) => [name, new Slots(limit)]));
    this.byTool = new Map(
      tools.map((tool) => {
        const own = new Slots(tool.limits.concurrency);
        const upstream = upstreams.get(tool.upstream.name) as Slots;
        const open = openAttempts.labels(tool.upstream.name);
        return [tool.name, { own, upstream, all: [own, upstream, this.open], open }];
      }),
    );
  }

  /** Attempts of a loaded tool that wait for their turn with it. */
  waiting(tool: string): number {
    return this.of(tool).own.waiting;
  }

  /** What an attempt of a loaded tool has to have; the result gives it back, once. Null when it is not free now. */
  tryTake(tool: string): (() => void) | null {
    const limits = this.of(tool);
    return counted(limits, tryTakeEach(limits.all));
  }

  /** As `tryTake`, in turn; null when this was closed meanwhile. */
  async take(tool: string): Promise<(() => void) | null> {
    const limits = this.of(tool);
    return counted(limits, await takeEach(limits.all));
  }

  /** Starts nothing for the tool's upstream for so long, since it would not be sent, and then one at a time. */
  rest(tool: string, ms: number): void {
    this.of(tool).upstream.rest(ms);
  }

  /** It would be sent again. */
  resume(tool: string): void {
    this.of(tool).upstream.resume();
  }

  /** Sends away those who wait, and who come. */
  close(): void {
    this.open.close();
    for (const { own, upstream } of this.byTool.values()) {
      own.close();
      upstream.close();
    }
  }

  private of(tool: string): OfTool {
    const limits = this.byTool.get(tool);
    if (!limits) throw new Error(`no limits for ${tool}`);
    return limits;
  }
}

function counted({ open }: OfTool, release: (() => void) | null): (() => void) | null {
  if (release === null) return null;
  open.inc();
  return () => {
    open.dec();
    release();
  };
}

/** The limit of each upstream by name: the smallest that one of its tools declares. */
function concurrencies(tools: readonly ToolDefinition[]): Map<string, number> {
  const least = new Map<string, number>();
  for (const { upstream } of tools) {
    least.set(upstream.name, Math.min(least.get(upstream.name) ?? Number.POSITIVE_INFINITY, upstream.concurrency));
  }
  return least;
}
