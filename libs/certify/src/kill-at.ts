import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Verdict } from '@intendant/intent';
import type { Environment } from '@intendant/runtime';
import type { UpstreamRequest } from '@intendant/upstream';
import type { Fault, Struck } from './fault.js';
import type { Surroundings } from './surroundings.js';

/** Where the process that makes a call dies. */
export type Boundary =
  | 'before the first byte'
  | 'after the headers'
  | 'after the full request'
  | 'after the reply arrived';

export interface WorkerOrder {
  readonly request: UpstreamRequest;
  readonly boundary: Boundary;
  /** Where the credentials are; its own environment is that of the campaign, as a module may read it. */
  readonly env: Environment;
}

export type WorkerLine =
  | { readonly at: 'start' }
  | { readonly at: 'sent' }
  | { readonly at: 'verdict'; readonly verdict: Verdict };

const faults: { readonly [B in Boundary]?: Fault } = {
  'after the headers': { kind: 'hold_body' },
  'after the full request': { kind: 'hold_answer' },
};
/** Which line of the worker means that it is there, where no proxy can tell. */
const signs: { readonly [B in Boundary]?: WorkerLine['at'] } = {
  'before the first byte': 'start',
  'after the full request': 'sent',
  'after the reply arrived': 'verdict',
};

/**
 * Makes the call in a child process and kills that with SIGKILL at the boundary. The verdict is what a dispatcher
 * would have to assume: unknown, unless the reply had arrived or the process ended before the boundary came.
 */
export async function killAt(
  boundary: Boundary,
  request: UpstreamRequest,
  { proxy, worker, env }: Surroundings,
): Promise<{ readonly verdict: Verdict; readonly struck: Struck | null }> {
  const fault = faults[boundary];
  const armed = fault && proxy ? proxy.arm(request.attemptId, fault) : null;
  const child = spawn(process.execPath, [worker], { stdio: ['pipe', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  try {
    child.stdin.on('error', () => {});
    child.stdin.end(JSON.stringify({ request, boundary, env } satisfies WorkerOrder));
    let verdict: Verdict = { kind: 'unknown', cause: 'killed', detail: `killed ${boundary}` };
    const lines = createInterface({ input: child.stdout });
    const told = new Promise<Struck | null>((resolve) => {
      lines.on('line', (text) => {
        const line = JSON.parse(text) as WorkerLine;
        if (line.at === 'verdict') verdict = line.verdict;
        if (armed === null && line.at === signs[boundary]) resolve({ at: performance.now(), status: null, body: null });
        // A call that is over before its boundary has come will not get there any more.
        else if (line.at === 'verdict') resolve(null);
      });
      lines.on('close', () => resolve(null));
    });
    const struck = await (armed === null ? told : Promise.race([armed, told]));
    return { verdict, struck };
  } finally {
    child.kill('SIGKILL');
    await exited;
  }
}
