import type { Json } from './json.js';

/** A rule that asks for a person, and why, in a sentence for that person. */
export interface Demand {
  readonly rule: string;
  readonly message: string;
}

/** What the upstream says would change. `asked`: it has not answered yet. */
export type Preview =
  | { readonly kind: 'asked' }
  /** `needed`: the call is tied to what it shows, so that nobody can agree without; it is asked for again. */
  | { readonly kind: 'failed'; readonly detail: string; readonly needed: boolean }
  | {
      readonly kind: 'shown';
      readonly before: Json;
      readonly after: Json;
      /** Changes with what is there; null: the upstream has none. */
      readonly token: string | number | null;
      /** What keeps it true until it is sent: the upstream refuses, it is read once more just before, or nothing. */
      readonly kept: 'by_upstream' | 'read_again' | 'not_kept';
    };

/** What people are asked to agree to, in full: an answer counts for this and for nothing else. */
export interface ApprovalRequest {
  /** Different for every request. */
  readonly nonce: string;
  /** Keyed digest over the intent, this request, the tool file and the policy files. */
  readonly digest: string;
  /** Digest of the tool file, and version of the policy files. */
  readonly toolFile: string;
  readonly policy: string;
  /** Version of the policy files by which the demands were decided; empty: by none. Left out in older ones: `policy`. */
  readonly judged?: string;
  readonly demands: readonly Demand[];
  /** The action in words. */
  readonly view: string;
  readonly impact: string | null;
  readonly reversible: boolean | null;
  /** How it can be undone; null: nobody has said. */
  readonly undo: string | null;
  /** JSON Pointers into the arguments whose values nobody is shown. */
  readonly redact: readonly string[];
  /** Different people that have to agree. */
  readonly quorum: number;
  /** Of each list an approver has one, unless it is empty. */
  readonly roles: readonly string[];
  readonly groups: readonly string[];
  /** Whoever the run acts for may agree. */
  readonly selfApproval: boolean;
  /** From then on silence is a no: ms since the epoch on the database clock. */
  readonly expiresAt: number;
  /** Where a refusal is remembered. */
  readonly remember: 'run' | 'tenant';
  /** Id of an earlier intent that it looks like; null: none. */
  readonly alike: string | null;
  /** Null: the tool has none. */
  readonly preview: Preview | null;
}

/** Somebody's yes to one request. */
export interface GivenApproval {
  readonly by: string;
  /** Of the request. */
  readonly digest: string;
  readonly at: number;
}

export interface Approvals {
  /** The newest last. Older ones are what was agreed to before something changed: they serve that, and only that. */
  readonly requests: readonly [ApprovalRequest, ...ApprovalRequest[]];
  readonly given: readonly GivenApproval[];
  /** What had changed when it was to be sent: why it is asked about anew. */
  readonly differs: readonly string[];
}

/** Who decides; the name comes from a credential. */
export interface Approver {
  readonly name: string;
  readonly roles: readonly string[];
  readonly groups: readonly string[];
}

/** What a dispatcher has found out about the requests of an intent just before it sends. */
export interface Verification {
  /** Version of the intent that was looked at. */
  readonly version: number;
  /** Digests of those that are about exactly what would be sent now. */
  readonly matching: readonly string[];
  /** What is different from the newest one, in words; empty where that matches. */
  readonly differs: readonly string[];
  /** What would be asked now; null where one of them matches: that is asked already. */
  readonly renewed: ApprovalRequest | null;
}

/** More are not kept: each stands for a change of the tool file or of the policy while somebody waited. */
const mostRequests = 20;

/** Its preview is to be asked for, and nobody can agree before it is there. */
export function wantsPreview({ preview }: ApprovalRequest): boolean {
  return preview?.kind === 'asked' || (preview?.kind === 'failed' && preview.needed);
}

export function newestOf({ requests }: Approvals): ApprovalRequest {
  return requests.at(-1) as ApprovalRequest;
}

/** Version of the policy files that had these people asked. */
export function judgedBy({ policy, judged = policy }: ApprovalRequest): string {
  return judged;
}

/** Whether the policy files that it is bound to have said what they want of it. */
export function isJudged(request: ApprovalRequest): boolean {
  return judgedBy(request) === request.policy;
}

/** Who has agreed to a request, each once. */
export function givenTo({ given }: Approvals, { digest }: ApprovalRequest): string[] {
  const names = given.filter((each) => each.digest === digest).map(({ by }) => by);
  return names.filter((name, index) => names.findIndex((each) => isSamePerson(each, name)) === index);
}

/** However it is written: two keys of one name, in whatever case, are one person's. */
export function isSamePerson(one: string, other: string): boolean {
  return plain(one) === plain(other);
}

function plain(name: string): string {
  return name.normalize('NFKC').trim().toLowerCase();
}

export function isComplete(approvals: Approvals, request: ApprovalRequest): boolean {
  return givenTo(approvals, request).length >= request.quorum;
}

/** When nobody can agree any more, nor use what was agreed to. Null: nobody was asked. */
export function approvalEnds({ approvals }: { readonly approvals: Approvals | null }): number | null {
  return approvals === null ? null : newestOf(approvals).expiresAt;
}

/** After somebody has taken back what was given. */
export function without(approvals: Approvals, by: string): Approvals {
  return { ...approvals, given: approvals.given.filter((each) => !isSamePerson(each.by, by)) };
}

/** After one more request, or one of before that is asked again. */
export function asked(
  before: Approvals | null,
  request: ApprovalRequest,
  differs: readonly string[] | undefined,
): Approvals {
  if (before === null) return { requests: [request], given: [], differs: differs ?? [] };
  const others = before.requests.filter(({ digest }) => digest !== request.digest);
  const [oldest, ...older] = [...others, request].slice(-mostRequests);
  return { requests: [oldest as ApprovalRequest, ...older], given: before.given, differs: differs ?? before.differs };
}
