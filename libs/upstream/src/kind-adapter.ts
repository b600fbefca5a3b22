import type { Upstream } from '@intendant/contracts';
import type { LookupAnswer, PollAnswer, Verdict } from '@intendant/intent';
import type {
  CallOptions,
  LookupOptions,
  LookupRequest,
  PollRequest,
  PreviewAnswer,
  UpstreamRequest,
} from './adapter.js';
import type { Credential } from './credential.js';

/** One question or request with all that its adapter needs: where to, for what tool, and as whom. */
export interface Task<U extends Upstream, R extends LookupRequest = LookupRequest> {
  /** Real or sandbox; the adapter does not know and must not care. */
  readonly upstream: U;
  readonly request: R;
  readonly credential: Credential | null;
}

/**
 * One kind of upstream. No method rejects. Texts may hold secrets and be of any length: whoever hands them on redacts
 * and shortens them (`Upstreams` does).
 */
export interface KindAdapter<U extends Upstream> {
  /** At most one wire request, never repeated. */
  call(task: Task<U, UpstreamRequest>, options: CallOptions): Promise<Verdict>;
  lookup(task: Task<U>, options: LookupOptions): Promise<LookupAnswer>;
  poll(task: Task<U, PollRequest>, options: LookupOptions): Promise<PollAnswer>;
  preview(task: Task<U>, options: LookupOptions): Promise<PreviewAnswer>;
  close(): Promise<void>;
}
