import type { Argv, ProcessUpstream } from '@intendant/contracts';
import type { Json, LookupAnswer, PollAnswer, Verdict } from '@intendant/intent';
import type {
  CallOptions,
  LookupOptions,
  LookupRequest,
  PollRequest,
  PreviewAnswer,
  UpstreamRequest,
  ValidateOutput,
} from './adapter.js';
import { evaluate } from './expression.js';
import { notExecuted } from './failure-verdict.js';
import { inheritedEnvironment } from './inherited-environment.js';
import { parseBody } from './json-body.js';
import type { KindAdapter, Task } from './kind-adapter.js';
import { MappingError } from './mapping-error.js';
import { fillArgv } from './process-argv.js';
import { type Ended, type Program, type Ran, runProgram } from './process-run.js';
import { processVerdict } from './process-verdict.js';
import { cannotTell, pending, readLookup, readPoll } from './read-lookup.js';
import { previewFailed, readPreview } from './read-preview.js';
import { messageOf } from './short-text.js';
import { type View, viewOf } from './view.js';

/**
 * Local programs: one process per attempt, JSON in on stdin and out on stdout. A process that was started is not ended
 * with the service: what it does meanwhile is what the settle time waits for.
 */
export class ProcessAdapter implements KindAdapter<ProcessUpstream> {
  readonly #running = new Set<Promise<Ran>>();
  #closed = false;

  constructor(private readonly validateOutput: ValidateOutput) {}

  async call(task: Task<ProcessUpstream, UpstreamRequest>, options: CallOptions): Promise<Verdict> {
    const { upstream, request } = task;
    let program: Program;
    try {
      const input = await inputOf(upstream.input, request);
      const argv = fillArgv(upstream.argv, request);
      program = programOf(task, argv, input, { INTENDANT_ATTEMPT_ID: request.attemptId });
    } catch (error) {
      return notExecuted('request_mapping', false, messageOf(error));
    }
    if (this.#closed) return notExecuted('client_closed', true, 'shutting down');
    if (options.signal?.aborted) return notExecuted('aborted_unsent', true, messageOf(options.signal.reason));
    const ran = await this.#run(program, task, options);
    return processVerdict(request.tool, upstream, ran, this.validateOutput);
  }

  async lookup(task: Task<ProcessUpstream>, options: LookupOptions): Promise<LookupAnswer> {
    const { tool, args, key, intentId } = task.request;
    const { lookup } = task.upstream;
    if (lookup === null) return cannotTell(`${tool.name} has no lookup`);
    try {
      const asked = await this.#ask(task, lookup.argv, { args, key, intentId }, options);
      if (typeof asked === 'string') return cannotTell(asked);
      if (asked.exit !== null && lookup.absentExits.includes(asked.exit)) return { kind: 'absent' };
      const read = readable(asked);
      if (typeof read === 'string') return cannotTell(`the lookup ${read}`);
      return await readLookup(tool, lookup, read.data, read.view, args, this.validateOutput);
    } catch (error) {
      return cannotTell(messageOf(error));
    }
  }

  async poll(task: Task<ProcessUpstream, PollRequest>, options: LookupOptions): Promise<PollAnswer> {
    const { tool, args, key, intentId, accepted } = task.request;
    const { poll } = task.upstream;
    if (poll === null) return pending(`${tool.name} has no poll`);
    try {
      const asked = await this.#ask(task, poll.argv, { args, key, intentId, accepted }, options);
      const read = typeof asked === 'string' ? asked : readable(asked);
      if (typeof read === 'string') return pending(`the poll ${read}`);
      return await readPoll(tool, poll, read.data, read.view, this.validateOutput);
    } catch (error) {
      return pending(messageOf(error));
    }
  }

  async preview(task: Task<ProcessUpstream>, options: LookupOptions): Promise<PreviewAnswer> {
    const { tool, args, key, intentId } = task.request;
    const { preview } = tool.approval;
    if (preview?.request.kind !== 'process') return previewFailed('no_preview', `${tool.name} has no preview`);
    try {
      const asked = await this.#ask(task, preview.request.argv, { args, key, intentId }, options);
      const read = typeof asked === 'string' ? asked : readable(asked);
      if (typeof read === 'string') return previewFailed('no_answer', `the preview ${read}`);
      return await readPreview(tool, preview, read.view, args);
    } catch (error) {
      return previewFailed('request_mapping', messageOf(error));
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all(this.#running);
  }

  /**
   * Runs a program that only answers, or says why it did not.
   *
   * @throws MappingError
   */
  async #ask(
    task: Task<ProcessUpstream, LookupRequest | PollRequest>,
    argv: Argv,
    input: object,
    options: LookupOptions,
  ): Promise<Ended | string> {
    const program = programOf(task, fillArgv(argv, { ...task.request, asks: true }), JSON.stringify(input), {});
    if (this.#closed) return 'shutting down';
    if (options.signal?.aborted) return 'aborted';
    const ran = await this.#run(program, task, { ...options, mayStart: () => true });
    if (ran.kind === 'refused') return ran.detail;
    return ran.kind === 'ended' ? ran : messageOf(ran.error);
  }

  async #run(program: Program, { upstream, request }: Task<ProcessUpstream>, options: CallOptions): Promise<Ran> {
    const { callMs } = request.tool.limits;
    const { signal, mayStart, onSend } = options;
    const maxBytes = upstream.maxOutputBytes;
    const running = runProgram(program, { signal, mayStart, onSend, callMs, maxBytes });
    this.#running.add(running);
    return running.finally(() => this.#running.delete(running));
  }
}

function programOf(
  { upstream, request, credential }: Task<ProcessUpstream, LookupRequest | PollRequest>,
  argv: readonly string[],
  input: string,
  ids: Readonly<Record<string, string>>,
): Program {
  const env = {
    ...inheritedEnvironment(),
    ...upstream.env,
    INTENDANT_KEY: request.key,
    INTENDANT_INTENT_ID: request.intentId,
    ...(credential === null ? {} : { INTENDANT_CREDENTIAL: credential.secret }),
    ...ids,
  };
  return { argv, cwd: upstream.cwd, env, input };
}

/** @throws MappingError */
async function inputOf(expression: string, { args, key, intentId, attemptId }: UpstreamRequest): Promise<string> {
  if (expression === '$args') return JSON.stringify(args);
  const input = await evaluate(expression, { args, key, intentId, attemptId }, { args });
  if (input === undefined) throw new MappingError('the input expression selects nothing');
  return JSON.stringify(input);
}

/** The data of an answer, or what is wrong with it. */
function readable(ended: Ended): { readonly data: Json; readonly view: View } | string {
  const { exit, signal, stderr, stdout, stopped } = ended;
  if (stopped !== null) return stopped === 'too_large' ? 'answered too much' : `did not answer: ${stopped}`;
  if (exit !== 0) return `ended with ${signal ?? `exit ${exit}`}: ${stderr}`;
  const parsed = parseBody(stdout);
  if (!parsed.ok || stdout.length === 0) return 'answered no JSON';
  return { data: parsed.data, view: viewOf(parsed.data, { exit, stderr, text: stdout.toString('utf8') }) };
}
