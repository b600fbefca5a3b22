import type { Verdict } from '@intendant/intent';

/** What one attempt says about the health of its upstream. */
export type Evidence = 'answered' | 'failed' | 'none';

/** Nobody was there, or somebody stopped answering: connecting failed, the connection was lost, time ran out. */
const failures: ReadonlySet<string> = new Set([
  'dns_failed',
  'connect_refused',
  'unreachable',
  'connect_timeout',
  'reset_before_send',
  'not_sent',
  'call_timeout_unsent',
  'call_timeout',
  'reset_after_send',
  'connection_lost',
  'failed_after_send',
  'answer_cut_short',
  'bad_response',
  // Servers of tools, over HTTP or as a child process.
  'mcp_connect_failed',
  'no_answer',
  'server_exited',
]);

/** Ended on our side: by a lease, a cancel, a pause, a shutdown, a missing permission or a mistake in the tool file. */
const ours: ReadonlySet<string> = new Set([
  'aborted',
  'aborted_unsent',
  'adapter_missing',
  'circuit_open',
  'client_closed',
  'credential_unavailable',
  'egress_refused',
  'lease_over',
  'local_resources_exhausted',
  'no_sandbox',
  'not_started',
  'paused',
  'preview_failed',
  'request_mapping',
  'tls_failed',
  'tool_not_loaded',
]);

/** Server errors, except those that speak of this one request: 501 and 505. */
const serverError = /^http_5(?!0[15])\d\d$/;

/**
 * A refusal is an answer, and so is everything else that an upstream says, whatever our mapping makes of it: a tool with a
 * mistake must not take the others of its upstream with it. A cause that is not known here counts as an answer, too.
 */
export function evidenceOf(verdict: Verdict): Evidence {
  if (verdict.kind === 'executed' || verdict.kind === 'accepted') return 'answered';
  if (ours.has(verdict.cause)) return 'none';
  return failures.has(verdict.cause) || serverError.test(verdict.cause) ? 'failed' : 'answered';
}
