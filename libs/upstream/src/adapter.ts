import type { StateToken, ToolDefinition, Upstream } from '@intendant/contracts';
import type { Json, JsonObject, LookupAnswer, PollAnswer, Verdict } from '@intendant/intent';

/** One wire attempt of an intent. */
export interface UpstreamRequest {
  readonly tool: ToolDefinition;
  /** The arguments with the injected fields filled in. */
  readonly args: JsonObject;
  /** The same for every attempt of the intent; the upstream's idempotency key. */
  readonly key: string;
  readonly intentId: string;
  readonly tenant: string;
  readonly runId: string;
  /** Different for every attempt: two wire requests with one attempt id mean a hidden re-sender. */
  readonly attemptId: string;
  /** Goes to the tool's sandbox, by the same code. */
  readonly sandbox: boolean;
  /**
   * What the preview brought when it was approved: the call goes as its `apply` says, and has no effect once something
   * else is there, which is `not_executed` with cause `state_changed`. Left out: nothing ties the call to a state.
   */
  readonly stateToken?: StateToken;
}

export type LookupRequest = Omit<UpstreamRequest, 'attemptId' | 'stateToken'>;

export interface PollRequest extends LookupRequest {
  /** What the upstream answered when it accepted the request. */
  readonly accepted: Json;
}

/** What a call would change, as the upstream tells before anybody has agreed. */
export type PreviewAnswer =
  | {
      readonly kind: 'shown';
      /** Null where the tool file does not say how it is read. */
      readonly before: Json;
      readonly after: Json;
      /** For `UpstreamRequest.stateToken`; null where the tool's preview brings none. */
      readonly token: StateToken | null;
    }
  /** `cause` is a short machine word as of a verdict, or `no_preview`, `preview_unreadable`, `token_unusable`. */
  | { readonly kind: 'failed'; readonly cause: string; readonly detail: string };

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  /**
   * Asked synchronously, once the connection stands and right before the first byte: is the lease still ours?
   * `false` or an exception sends nothing and gives `not_executed` with cause `lease_over`.
   */
  readonly mayStart: () => boolean;
  /** Told synchronously when the header bytes are handed to the socket; from then on silence means `unknown`. */
  readonly onSend?: (() => void) | undefined;
  /** Told when what was given up as `unknown` shows afterwards that it did run, with the verdict `executed`. */
  readonly onLate?: ((verdict: Verdict) => void) | undefined;
}

export interface LookupOptions {
  readonly signal?: AbortSignal;
}

/** The only way out to an upstream. No method rejects: whatever happens becomes a verdict or an answer. */
export interface UpstreamAdapter {
  /** At most one wire request, never repeated, whatever the connection does. */
  call(request: UpstreamRequest, options: CallOptions): Promise<Verdict>;
  /** Asks the tool's `exists()`; every error and every timeout is `cannot_tell`. */
  lookup(request: LookupRequest, options?: LookupOptions): Promise<LookupAnswer>;
  /** Asks what became of an accepted request; every error and every timeout is `pending`. */
  poll(request: PollRequest, options?: LookupOptions): Promise<PollAnswer>;
  /** Asks what a call would change, and changes nothing; every error and every timeout is `failed`. */
  preview(request: LookupRequest, options?: LookupOptions): Promise<PreviewAnswer>;
  /** Waits for running calls, each bounded by its call limit; later calls send nothing. */
  close(): Promise<void>;
}

/** Null when `data` satisfies the tool's output schema (or there is none), else what is wrong with it. */
export type ValidateOutput = (tool: ToolDefinition, data: Json) => string | null;

/** Where a request goes: to the tool's upstream, or for a sandbox call to the sandbox; null where there is none. */
export function upstreamOf({ tool, sandbox }: Pick<LookupRequest, 'tool' | 'sandbox'>): Upstream | null {
  return sandbox ? tool.sandbox : tool.upstream;
}
