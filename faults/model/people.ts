import type { ApprovalRequest, Approvals, Approver, Intent, IntentEvent, Verification } from '@intendant/intent';
import { demand } from './broken.js';
import type { Entry } from './step.js';

/** What people are asked about an intent. */
export interface Asks {
  /** Of the tool file as it is at first, 1 or 2; the other one demands the other number. */
  readonly quorum: number;
  readonly selfApproval: boolean;
  readonly ttlMs: number;
}

/** Which of two tool files, or policies, somebody has. */
export type Files = 0 | 1;

/** What a dispatcher found out, and by which files. */
export interface Look {
  readonly verified: Verification;
  readonly files: Files;
}

const payments = { roles: ['approver'], groups: ['payments'] };

/** Two who may, one of them under another spelling as well; the one that the run acts for; one of another group. */
export const people: readonly Approver[] = [
  { name: 'erin', ...payments },
  { name: 'frank', ...payments },
  { name: ' ERIN', ...payments },
  { name: 'ann', ...payments },
  { name: 'mallory', roles: ['approver'], groups: ['sales'] },
];
const entitled: ReadonlySet<string> = new Set(['erin', 'frank', ' ERIN', 'ann']);
const requester = 'ann';

export function requestOf({ quorum, selfApproval }: Asks, files: Files, n: number, expiresAt: number): ApprovalRequest {
  return {
    nonce: `nonce-${n}`,
    digest: digestOf(files, n),
    toolFile: `file-${files}`,
    policy: 'policy',
    demands: [{ rule: 'approval', message: 'a person has to agree' }],
    view: 'act',
    impact: null,
    reversible: null,
    undo: null,
    redact: [],
    quorum: files === 0 ? quorum : 3 - quorum,
    roles: [],
    groups: ['payments'],
    selfApproval,
    expiresAt,
    remember: 'run',
    alike: null,
    preview: null,
  };
}

function digestOf(files: Files, n: number): string {
  return `sealed-${files}-${n}`;
}

function isBy(files: Files, digest: string): boolean {
  return digest.startsWith(`sealed-${files}-`);
}

/** What a dispatcher with those files finds out. */
export function lookAt(asks: Asks, files: Files, { approvals, version }: Looked): Look {
  const { requests } = approvals;
  const matching = requests.filter(({ digest }) => isBy(files, digest)).map(({ digest }) => digest);
  const newest = requests.at(-1) as ApprovalRequest;
  const differs = matching.includes(newest.digest) ? [] : ['the tool file'];
  const renewed = matching.length > 0 ? null : requestOf(asks, files, version + 1, newest.expiresAt);
  return { files, verified: { version, matching, differs, renewed } };
}

/** One no of somebody who was asked is enough until something may have happened, whoever has agreed before. */
export function mayRefuse({ name }: Approver, intent: Intent | null): boolean {
  const isOpen = intent?.state === 'awaiting_approval' || intent?.state === 'authorized';
  const mayHaveRun = intent?.attempts.some(({ verdict }) => verdict !== 'not_executed') ?? false;
  return isOpen && !mayHaveRun && entitled.has(name);
}

interface Looked {
  readonly version: number;
  readonly approvals: Approvals;
}

/**
 * The last event of the log starts an attempt: by a request of those files, which as many different people as it needs have
 * agreed to while it was the newest, and have not taken back; nobody has refused it; and it has not expired, unless it is
 * about an attempt that may have run. @throws Broken
 */
export function checkAgreed(log: readonly Entry[], files: Files): void {
  const requests: ApprovalRequest[] = [];
  const agreed = new Map<string, Set<string>>();
  let mayHaveRun = false;
  for (const { event, at } of log.slice(0, -1)) {
    if (event.type === 'approval_requested') requests.push(event.request);
    if (event.type === 'approved') {
      mayAgree(event, requests.at(-1));
      demand(mayHaveRun || inTime(requests.at(-1), at), 'I15', `${event.by} agreed at ${at}, when the time was over`);
      agreed.set(event.digest, new Set([...(agreed.get(event.digest) ?? []), plain(event.by)]));
    }
    if (event.type === 'approval_withdrawn') for (const given of agreed.values()) given.delete(plain(event.by));
    demand(event.type !== 'refused', 'I15', 'an attempt was started after a refusal');
    // What a later attempt proves of earlier ones does not matter here: they were under way with an approval.
    if (event.type === 'outcome_unknown' || event.type === 'accepted') mayHaveRun = true;
  }
  const newest = requests.at(-1);
  demand(newest !== undefined, 'I15', 'an attempt was started, and nobody was asked');
  const whole = requests.some(({ digest, quorum }) => isBy(files, digest) && (agreed.get(digest)?.size ?? 0) >= quorum);
  demand(whole, 'I15', 'an attempt was started, and too few have agreed to it as it is');
  const at = log.at(-1)?.at ?? 0;
  demand(mayHaveRun || inTime(newest, at), 'I15', `an attempt was started at ${at}, after its approval had expired`);
}

function mayAgree({ by, digest }: Approved, newest: ApprovalRequest | undefined): void {
  demand(newest !== undefined && digest === newest.digest, 'I15', `${by} agreed to ${digest}, which is not asked`);
  demand(entitled.has(by), 'I15', `${by} may not agree`);
  demand(newest.selfApproval || by !== requester, 'I15', `${by} agreed to the own request`);
}

function inTime(request: ApprovalRequest | undefined, at: number): boolean {
  return request !== undefined && at < request.expiresAt;
}

type Approved = Extract<IntentEvent, { type: 'approved' }>;

function plain(name: string): string {
  return name.trim().toLowerCase();
}
