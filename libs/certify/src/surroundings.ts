import type { ToolDefinition } from '@intendant/contracts';
import type { Environment } from '@intendant/runtime';
import type { UpstreamAdapter } from '@intendant/upstream';
import type { FaultProxy } from './fault-proxy.js';

/** What an effect needs to know of the campaign it belongs to. */
export interface Surroundings {
  /** With the proxy as its address. */
  readonly tool: ToolDefinition;
  /** Null where the upstream is not spoken to over HTTP. */
  readonly proxy: FaultProxy | null;
  /** Script that makes one call in a process of its own. */
  readonly worker: string;
  /** Where the credentials are. */
  readonly env: Environment;
  /** False once it is known that two effects of one request may have equal receipts: they prove nothing then. */
  readonly receiptsTell: boolean;
  /** How long something is waited for that should be there by then, in ms. */
  readonly patienceMs: number;
  /** A way out of its own. */
  open(): UpstreamAdapter;
}
