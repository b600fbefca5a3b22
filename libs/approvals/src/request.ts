import type { ToolDefinition } from '@intendant/contracts';
import {
  type ApprovalRequest,
  type Demand,
  type JsonObject,
  judgedBy,
  type Preview,
  type Proposal,
} from '@intendant/intent';
import { renderImpact, renderView } from '@intendant/policy';
import { canonical } from '@intendant/tools';

/** Keyed digests. */
export interface Seals {
  seal(text: string): string;
  /** In constant time. */
  fits(digest: string, text: string): boolean;
}

/** What people are to be asked. */
export interface Question {
  readonly proposal: Proposal;
  readonly tool: ToolDefinition;
  /** Version of the policy files. */
  readonly policy: string;
  /** By which the demands were decided. Left out: by `policy`. */
  readonly judged?: string;
  readonly demands: readonly Demand[];
  /** Ms since the epoch on the database clock. */
  readonly expiresAt: number;
  /** Id of an earlier intent that it looks like; null: none. */
  readonly alike: string | null;
  /** Null: it is asked for where the tool has one. */
  readonly preview?: Preview;
  /** Unlike that of any other request. */
  readonly nonce: string;
}

type Unsealed = Omit<ApprovalRequest, 'digest'>;

/** The request that people see, bound to everything that it is about. */
export function newRequest(question: Question, seals: Seals): ApprovalRequest {
  const { proposal, tool, policy, demands, expiresAt, alike, nonce } = question;
  const { quorum, roles, groups, selfApproval, redact, remember, undo } = tool.approval;
  const values = valuesOf(proposal);
  const unsealed: Unsealed = {
    ...{
      nonce,
      policy,
      judged: question.judged ?? policy,
      demands,
      expiresAt,
      alike,
      quorum,
      roles,
      groups,
      selfApproval,
      redact,
      remember,
      undo,
    },
    toolFile: tool.fileDigest,
    view: renderView(tool, values),
    impact: renderImpact(tool, values),
    reversible: tool.reversible,
    preview: question.preview ?? (tool.approval.preview === null ? null : { kind: 'asked' }),
  };
  return { ...unsealed, digest: seals.seal(boundText(proposal, unsealed)) };
}

/** The same question about what would be done now. */
export function renewed(
  earlier: ApprovalRequest,
  now: Pick<Question, 'proposal' | 'tool' | 'policy' | 'nonce' | 'preview'>,
  seals: Seals,
): ApprovalRequest {
  const { demands, expiresAt, alike } = earlier;
  return newRequest({ ...now, judged: judgedBy(earlier), demands, expiresAt, alike }, seals);
}

/** Arguments and trusted fields, as they are sent. */
export function valuesOf({ args, injected }: Proposal): JsonObject {
  return { ...args, ...injected };
}

/** Everything that an approval is bound to, in canonical JSON (RFC 8785). */
export function boundText(proposal: Proposal, request: Unsealed): string {
  const { tenant, runId, user, intentId, stepId, key, tool, toolVersion, contractDigest, args, injected, sandbox } =
    proposal;
  const { digest: _, ...asked } = request as Partial<ApprovalRequest>;
  return canonical({
    ...{ tenant, runId, user, intentId, stepId, key, tool, toolVersion, contractDigest, args, injected, sandbox },
    request: { ...asked } as unknown as JsonObject,
  });
}
