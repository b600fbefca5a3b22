import type { ModuleUpstream } from '@intendant/contracts';
import type { LookupAnswer, PollAnswer, Verdict } from '@intendant/intent';
import type {
  CallOptions,
  LookupOptions,
  PollRequest,
  PreviewAnswer,
  UpstreamRequest,
  ValidateOutput,
} from './adapter.js';
import type { ToolQuestion } from './define-tool.js';
import { notExecuted } from './failure-verdict.js';
import type { KindAdapter, Task } from './kind-adapter.js';
import { lookupAnswer, modulePreview, pollAnswer } from './module-answers.js';
import { type LoadedModule, loadModule } from './module-loader.js';
import { runFunction, type Settled } from './module-run.js';
import { moduleVerdict } from './module-verdict.js';
import { cannotTell, pending } from './read-lookup.js';
import { previewFailed } from './read-preview.js';
import { messageOf } from './short-text.js';
import { refusalToStart, tellSent } from './starting.js';

/**
 * Modules written with `defineTool`, which run in this process: trusted code, bound by no egress rule, that must not
 * block the event loop.
 */
export class ModuleAdapter implements KindAdapter<ModuleUpstream> {
  readonly #modules = new Map<string, Promise<LoadedModule>>();
  readonly #running = new Set<Promise<Settled>>();
  #closed = false;

  constructor(
    private readonly validateOutput: ValidateOutput,
    /** Most bytes of a receipt, as JSON. */
    private readonly maxBytes: number,
  ) {}

  /** @throws Error that says what is wrong with the file */
  load(path: string): Promise<LoadedModule> {
    const known = this.#modules.get(path);
    if (known !== undefined) return known;
    const loading = loadModule(path);
    this.#modules.set(path, loading);
    // It may be put right meanwhile.
    loading.catch(() => this.#modules.delete(path));
    return loading;
  }

  async call(task: Task<ModuleUpstream, UpstreamRequest>, options: CallOptions): Promise<Verdict> {
    const { upstream, request } = task;
    let module: LoadedModule;
    try {
      module = await this.load(upstream.path);
    } catch (error) {
      return notExecuted('adapter_missing', true, messageOf(error));
    }
    if (this.#closed) return notExecuted('client_closed', true, 'shutting down');
    if (options.signal?.aborted) return notExecuted('aborted_unsent', true, messageOf(options.signal.reason));
    const refusal = refusalToStart(options, 'the module was called');
    if (refusal !== null) return notExecuted('lease_over', true, refusal);
    const call = { ...questionOf(task), attemptId: request.attemptId };
    const { onLate } = options;
    const late = onLate && ((value: unknown) => void this.#late(task, value, onLate));
    const running = this.#run(task, options.signal, (context) => module.execute(call, context), late);
    tellSent(options);
    return moduleVerdict(request.tool, await running, this.maxBytes, this.validateOutput);
  }

  async lookup(task: Task<ModuleUpstream>, { signal }: LookupOptions): Promise<LookupAnswer> {
    const { tool } = task.request;
    if (task.upstream.lookup === null) return cannotTell(`${tool.name} has no lookup`);
    try {
      const { lookup } = await this.load(task.upstream.path);
      if (lookup === undefined) return cannotTell('the module has no lookup');
      if (this.#closed || signal?.aborted) return cannotTell(this.#closed ? 'shutting down' : 'aborted');
      const settled = await this.#run(task, signal, (context) => lookup(questionOf(task), context));
      return lookupAnswer(tool, settled, this.maxBytes, this.validateOutput);
    } catch (error) {
      return cannotTell(messageOf(error));
    }
  }

  async poll(task: Task<ModuleUpstream, PollRequest>, { signal }: LookupOptions): Promise<PollAnswer> {
    const { tool, accepted } = task.request;
    if (task.upstream.poll === null) return pending(`${tool.name} has no poll`);
    try {
      const { poll } = await this.load(task.upstream.path);
      if (poll === undefined) return pending('the module has no poll');
      if (this.#closed || signal?.aborted) return pending(this.#closed ? 'shutting down' : 'aborted');
      const question = { ...questionOf(task), accepted: structuredClone(accepted) };
      const settled = await this.#run(task, signal, (context) => poll(question, context));
      return pollAnswer(tool, settled, this.maxBytes, this.validateOutput);
    } catch (error) {
      return pending(messageOf(error));
    }
  }

  async preview(task: Task<ModuleUpstream>, { signal }: LookupOptions): Promise<PreviewAnswer> {
    const { tool, args } = task.request;
    const definition = tool.approval.preview;
    if (definition?.request.kind !== 'module') return previewFailed('no_preview', `${tool.name} has no preview`);
    try {
      const { preview } = await this.load(task.upstream.path);
      if (preview === undefined) return previewFailed('no_preview', 'the module has no preview');
      if (this.#closed) return previewFailed('client_closed', 'shutting down');
      if (signal?.aborted) return previewFailed('aborted_unsent', messageOf(signal.reason));
      const settled = await this.#run(task, signal, (context) => preview(questionOf(task), context));
      return await modulePreview(tool, definition, settled, this.maxBytes, args);
    } catch (error) {
      return previewFailed('adapter_missing', messageOf(error));
    }
  }

  /** It was given up on and did it all the same; anything else that it says so late changes nothing. */
  async #late({ request }: Task<ModuleUpstream>, value: unknown, onLate: (verdict: Verdict) => void): Promise<void> {
    const settled = { kind: 'returned', value } as const;
    const verdict = await moduleVerdict(request.tool, settled, this.maxBytes, this.validateOutput);
    if (verdict.kind === 'executed') onLate(verdict);
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all(this.#running);
  }

  #run(
    { request }: Task<ModuleUpstream>,
    signal: AbortSignal | undefined,
    work: Parameters<typeof runFunction>[0],
    late?: (value: unknown) => void,
  ): Promise<Settled> {
    const running = runFunction(work, { signal, callMs: request.tool.limits.callMs, late });
    this.#running.add(running);
    return running.finally(() => this.#running.delete(running));
  }
}

function questionOf({ request, credential }: Task<ModuleUpstream>): ToolQuestion<unknown> {
  const { args, key, intentId, tenant, runId, sandbox } = request;
  // A module that changes its arguments must not change those of the next attempt.
  return {
    args: structuredClone(args),
    key,
    intentId,
    tenant,
    runId,
    sandbox,
    credential: credential?.secret ?? null,
  };
}
