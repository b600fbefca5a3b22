import type { ProcessUpstream, ToolDefinition } from '@intendant/contracts';
import type { Verdict } from '@intendant/intent';
import type { ValidateOutput } from './adapter.js';
import { notExecuted } from './failure-verdict.js';
import { parseBody } from './json-body.js';
import type { Ended, Ran } from './process-run.js';
import { type Received, readVerdict } from './read-verdict.js';
import { messageOf } from './short-text.js';
import { viewOf } from './view.js';

/**
 * What the run of a process says about its attempt. Once it was started it may have done anything: only its exit
 * status and the rules of its tool file can say that it did not. `detail` is raw.
 */
export async function processVerdict(
  tool: ToolDefinition,
  upstream: ProcessUpstream,
  ran: Ran,
  validate: ValidateOutput,
): Promise<Verdict> {
  if (ran.kind === 'refused') return notExecuted('lease_over', true, ran.detail);
  if (ran.kind === 'not_started') return notStarted(ran.error);
  if (ran.stopped === 'timeout' || ran.stopped === 'aborted') {
    // One that was told to end may still end well. What it says of not having done anything is not believed: it was
    // interrupted, and many programs have one exit status for that and for a refusal.
    const verdict = ran.exit === 0 ? await read(tool, upstream, ran, validate) : null;
    if (verdict?.kind === 'executed') return verdict;
    const detail = `ended by ${howItEnded(ran)} after it was told to${survivors(ran)}: ${wordsOf(ran)}`;
    return { kind: 'unknown', cause: ran.stopped === 'timeout' ? 'call_timeout' : 'aborted', detail };
  }
  const verdict = await read(tool, upstream, ran, validate);
  if (ran.gone || verdict.kind !== 'not_executed' || tool.effect === 'read') return verdict;
  // What it left behind may still do what the process itself says it has not done.
  return { kind: 'unknown', cause: 'survivor', detail: `${verdict.cause}${survivors(ran)}: ${verdict.detail}` };
}

function read(tool: ToolDefinition, upstream: ProcessUpstream, ran: Ended, validate: ValidateOutput): Promise<Verdict> {
  const { exit, stopped } = ran;
  const cause =
    exit === null ? (ran.signal ?? 'signal').toLowerCase().replace(/^sig(?=[a-z])/, 'signal_') : `exit_${exit}`;
  const body = bodyOf(ran);
  const received: Received = {
    // A process that was ended for its output has an exit status that says nothing.
    cause: stopped === 'too_large' ? 'response_too_large' : cause,
    words: wordsOf(ran),
    body,
    view: viewOf(body.ok ? body.data : undefined, { exit, stderr: ran.stderr, text: textOf(ran) }),
  };
  if (stopped === 'too_large') {
    const general = { meaning: 'executed', transient: false, receipt: null } as const;
    return readVerdict(tool, [], received, general, validate);
  }
  const general = (exit === null ? undefined : upstream.exits[exit]) ?? (exit === 0 ? 'executed' : 'unknown');
  return readVerdict(
    tool,
    upstream.outcomes,
    received,
    { meaning: general, transient: false, receipt: null },
    validate,
  );
}

function bodyOf({ stdout, stopped }: Ended): Received['body'] {
  if (stopped === 'too_large') {
    return { ok: false, cause: 'response_too_large', why: `more than ${stdout.length} bytes on stdout` };
  }
  return stdout.length === 0 ? { ok: false, why: 'nothing on stdout' } : parseBody(stdout);
}

/** A text that was cut could end in half a secret. */
function textOf({ stdout, stopped }: Ended): string {
  return stopped === 'too_large' ? '' : stdout.toString('utf8');
}

function wordsOf(ran: Ended): string {
  return ran.stderr.trim() === '' ? textOf(ran) : ran.stderr;
}

function howItEnded({ exit, signal }: Ended): string {
  return exit === null ? (signal ?? 'nothing') : `exit ${exit}`;
}

function survivors({ gone }: Ended): string {
  return gone ? '' : ', but something of it still runs';
}

/** By error code of the system: what is missing now may be there later, and so may what is short now. */
const notStartedCauses: Readonly<Record<string, { readonly cause: string; readonly transient: boolean }>> = {
  ...of(['ENOENT', 'EACCES', 'ENOTDIR', 'EPERM', 'ENOEXEC', 'ELOOP', 'ETXTBSY'], 'adapter_missing', true),
  ...of(['EMFILE', 'ENFILE', 'EAGAIN', 'ENOMEM'], 'no_resources', true),
  ...of(['E2BIG', 'ENAMETOOLONG', 'ERR_INVALID_ARG_VALUE', 'ERR_INVALID_ARG_TYPE'], 'request_mapping', false),
};

function of(codes: readonly string[], cause: string, transient: boolean) {
  return Object.fromEntries(codes.map((code) => [code, { cause, transient }]));
}

function notStarted(error: unknown): Verdict {
  const { code = '' } = error as NodeJS.ErrnoException;
  const { cause, transient } = notStartedCauses[code] ?? { cause: 'not_started', transient: false };
  return notExecuted(cause, transient, messageOf(error));
}
