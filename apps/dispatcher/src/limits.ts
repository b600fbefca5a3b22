import type { ToolDefinition, Upstream } from '@intendant/contracts';
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

/** What the places of an attempt depend on: its tool, and whether it goes to the sandbox, which has places of its own. */
export interface Placed {
  readonly tool: string;
  readonly sandbox?: boolean;
}

/**
 * How many attempts are open at once in this process: of one tool, of one upstream over all its tools, and in all. Whose
 * upstream is full waits; everybody else goes on.
 */
export class Limits {
  private readonly open = new Slots(maxOpen);
  private readonly byTool = new Map<string, OfTool>();

  constructor(tools: readonly ToolDefinition[]) {
    const upstreams = tools.flatMap((tool) => (tool.sandbox ? [tool.upstream, tool.sandbox] : [tool.upstream]));
    const places = new Map([...concurrencies(upstreams)].map(([name, limit]) => [name, new Slots(limit)]));
    const add = (tool: ToolDefinition, { name }: Upstream, sandbox: boolean) => {
      const own = new Slots(tool.limits.concurrency);
      const upstream = places.get(name) as Slots;
      const open = openAttempts.labels(name);
      this.byTool.set(idOf({ tool: tool.name, sandbox }), { own, upstream, all: [own, upstream, this.open], open });
    };
    for (const tool of tools) {
      add(tool, tool.upstream, false);
      if (tool.sandbox) add(tool, tool.sandbox, true);
    }
  }

  /** Attempts of a loaded tool that wait for their turn with it. */
  waiting(placed: Placed): number {
    return this.of(placed).own.waiting;
  }

  /** What an attempt of a loaded tool has to have; the result gives it back, once. Null when it is not free now. */
  tryTake(placed: Placed): (() => void) | null {
    const limits = this.of(placed);
    return counted(limits, tryTakeEach(limits.all));
  }

  /** As `tryTake`, in turn; null when this was closed meanwhile. */
  async take(placed: Placed): Promise<(() => void) | null> {
    const limits = this.of(placed);
    return counted(limits, await takeEach(limits.all));
  }

  /** Starts nothing for the tool's upstream for so long, since it would not be sent, and then one at a time. */
  rest(placed: Placed, ms: number): void {
    this.of(placed).upstream.rest(ms);
  }

  /** It would be sent again. */
  resume(placed: Placed): void {
    this.of(placed).upstream.resume();
  }

  /** Sends away those who wait, and who come. */
  close(): void {
    this.open.close();
    for (const { own, upstream } of this.byTool.values()) {
      own.close();
      upstream.close();
    }
  }

  /** A sandbox call of a tool that has none any more is not sent; it waits with the real ones until that is found. */
  private of(placed: Placed): OfTool {
    const limits = this.byTool.get(idOf(placed)) ?? this.byTool.get(placed.tool);
    if (!limits) throw new Error(`no limits for ${placed.tool}`);
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

function idOf({ tool, sandbox = false }: Placed): string {
  return sandbox ? `${tool} (sandbox)` : tool;
}

/** The limit of each upstream by name: the smallest that one of its tools declares. */
function concurrencies(upstreams: readonly Upstream[]): Map<string, number> {
  const least = new Map<string, number>();
  for (const { name, concurrency } of upstreams) {
    least.set(name, Math.min(least.get(name) ?? Number.POSITIVE_INFINITY, concurrency));
  }
  return least;
}
