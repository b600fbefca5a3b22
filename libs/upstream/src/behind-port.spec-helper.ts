import type { Upstream } from '@intendant/contracts';
import { secrets } from '@intendant/testing';
import { type LookupRequest, type UpstreamAdapter, upstreamOf } from './adapter.js';
import type { Credential } from './credential.js';
import { notExecuted } from './failure-verdict.js';
import type { KindAdapter, Task } from './kind-adapter.js';
import { cannotTell, pending } from './read-lookup.js';
import { previewFailed } from './read-preview.js';

/** One kind of adapter behind the port, with the credentials of the conformance suite. */
export function behindPort<U extends Upstream>(kind: KindAdapter<U>): UpstreamAdapter {
  const taskOf = <R extends LookupRequest>(request: R): Task<U, R> | null => {
    const upstream = upstreamOf(request) as U | null;
    return upstream && { upstream, request, credential: credentialOf(upstream) };
  };
  return {
    call: async (request, options) => {
      const task = taskOf(request);
      return task ? kind.call(task, options) : notExecuted('no_sandbox', false, 'no sandbox');
    },
    lookup: async (request, options = {}) => {
      const task = taskOf(request);
      return task ? kind.lookup(task, options) : cannotTell('no sandbox');
    },
    poll: async (request, options = {}) => {
      const task = taskOf(request);
      return task ? kind.poll(task, options) : pending('no sandbox');
    },
    preview: async (request, options = {}) => {
      const task = taskOf(request);
      return task ? kind.preview(task, options) : previewFailed('no_sandbox', 'no sandbox');
    },
    close: () => kind.close(),
  };
}

function credentialOf({ credential }: Upstream): Credential | null {
  const secret = credential === null ? undefined : secrets[credential];
  return secret === undefined ? null : { header: { name: 'Authorization', value: `Bearer ${secret}` }, secret };
}
