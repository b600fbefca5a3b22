import type { Session, ToolDefinition } from '@intendant/contracts';
import type { DroppedField, Failure, JsonObject, Proposal } from '@intendant/intent';

/** What admission decides on: everything is loaded before, nothing is looked up in here. */
export interface AdmissionFacts {
  readonly session: Session;
  readonly tool: ToolDefinition;
  /** Whether the caller's permissions and phase allow the tool, and why not. */
  readonly permitted: { readonly allowed: true } | { readonly allowed: false; readonly reason: string };
}

export type Ruling = { readonly allow: true } | { readonly allow: false; readonly failure: Failure };

/** May it happen? Deny by default: only what is permitted is allowed, and every denial says by which rule. */
export function rule({ session, tool, permitted }: AdmissionFacts): Ruling {
  if (permitted.allowed) return { allow: true };
  return {
    allow: false,
    failure: {
      code: 'permission_denied',
      message: `${tool.name} is not allowed here: ${permitted.reason}. Nothing was sent. Do not try again; use another tool or stop.`,
      details: { rule: 'permission', user: session.user },
    },
  };
}

export interface Submission {
  readonly intentId: string;
  readonly stepId: string | null;
  readonly args: JsonObject;
  readonly dropped: readonly DroppedField[];
  readonly key: string;
  readonly fingerprint: string;
  readonly sandbox: boolean;
  readonly traceparent: string | null;
  /** End of the authority to dispatch, in ms since the epoch on the database clock. */
  readonly expiresAt: number;
}

/** The intent as it will be recorded: identity from the session, terms from the tool, the rest from the caller. */
export function propose(submission: Submission, session: Session, tool: ToolDefinition): Proposal {
  // Field by field: a spread that more fields follow takes ten times as long.
  return {
    intentId: submission.intentId,
    tenant: session.tenant,
    runId: session.runId,
    user: session.user,
    stepId: submission.stepId,
    tool: tool.name,
    toolVersion: tool.version,
    contractDigest: tool.contractDigest,
    args: submission.args,
    injected: inject(tool, session),
    dropped: submission.dropped,
    key: submission.key,
    fingerprint: submission.fingerprint,
    sandbox: submission.sandbox,
    terms: tool.terms,
    expiresAt: submission.expiresAt,
    traceparent: submission.traceparent,
  };
}

function inject(tool: ToolDefinition, session: Session): JsonObject {
  const values = { tenant: session.tenant, user: session.user, run: session.runId };
  return Object.fromEntries(Object.entries(tool.inject).map(([field, source]) => [field, values[source]]));
}
