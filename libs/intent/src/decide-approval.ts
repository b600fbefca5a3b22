import {
  type ApprovalRequest,
  type Approvals,
  type Approver,
  givenTo,
  isComplete,
  isJudged,
  isSamePerson,
  newestOf,
  wantsPreview,
  without,
} from './approval.js';
import type { Command, Decision } from './commands.js';
import { accept, reject, unchanged } from './decision.js';
import type { IntentEvent } from './events.js';
import { nothingDone } from './follow-up.js';
import { clearedFor, lapseOf } from './lapse.js';
import { ruled } from './ruled.js';
import { type In, type Intent, mayHaveRun } from './state.js';

type ApprovalCommand = Extract<Command, { type: 'approve' | 'refuse' | 'withdraw' | 'show_preview' | 'judge_again' }>;

/** What people say about an intent that they were asked about, and what they are shown. */
export function decideApproval(command: ApprovalCommand, intent: Intent, now: number): Decision {
  const { approvals } = intent;
  if (approvals === null) return reject('not_awaiting');
  switch (command.type) {
    case 'approve':
      return approve(command, approvals, intent, now);
    case 'refuse':
      return refuse(command, approvals, intent, now);
    case 'withdraw':
      return withdraw(command.by, approvals, intent);
    case 'show_preview':
      return showPreview(command, approvals, intent, now);
    case 'judge_again':
      return judgeAgain(command, approvals, intent, now);
  }
}

function approve(
  { approver, digest }: Extract<Command, { type: 'approve' }>,
  approvals: Approvals,
  intent: Intent,
  now: number,
): Decision {
  const request = newestOf(approvals);
  if (!isEntitled(approver, request)) return reject('not_entitled');
  if (isRequester(approver, intent) && !request.selfApproval) return reject('own_request');
  if (over.has(intent.state)) return reject('not_awaiting');
  if (digest !== request.digest) return reject('stale_digest');
  // Said twice, or by one more than it needs: either way it is agreed to, and they all read the same.
  if (givenTo(approvals, request).some((by) => isSamePerson(by, approver.name))) return unchanged;
  if (intent.state !== 'awaiting_approval') return isComplete(approvals, request) ? unchanged : reject('not_awaiting');
  const lapse = lapseOf(intent, now);
  if (lapse) return accept(lapse);
  if (!isJudged(request)) return reject('not_judged_yet');
  if (wantsPreview(request)) return reject('no_preview_yet');
  const approved: IntentEvent = { type: 'approved', by: approver.name, digest };
  if (givenTo(approvals, request).length + 1 < request.quorum) return accept(approved);
  return accept(approved, clearedFor(intent));
}

/** One no is enough, as long as nothing was sent; a yes of before does not outweigh it. */
function refuse(
  { approver, digest, reason }: Extract<Command, { type: 'refuse' }>,
  approvals: Approvals,
  intent: Intent,
  now: number,
): Decision {
  const request = newestOf(approvals);
  if (!isEntitled(approver, request)) return reject('not_entitled');
  if (intent.state === 'denied' && intent.failure.code === 'approval_refused') return unchanged;
  if (over.has(intent.state)) return reject('not_awaiting');
  if (digest !== null && digest !== request.digest) return reject('stale_digest');
  if (!isWaiting(intent) || mayHaveRun(intent.attempts)) return reject('in_flight');
  const lapse = lapseOf(intent, now);
  if (lapse) return accept(lapse);
  const { name } = approver;
  return accept({ type: 'refused', by: name, reason }, { type: 'denied', failure: refusal(name, reason, intent) });
}

/** What was given and not used yet counts as not given. */
function withdraw(by: string, approvals: Approvals, intent: Intent): Decision {
  if (over.has(intent.state)) return reject('not_awaiting');
  if (!isWaiting(intent) || mayHaveRun(intent.attempts)) return reject('in_flight');
  const given = approvals.given.find((each) => isSamePerson(each.by, by));
  if (!given) return reject('nothing_given');
  const withdrawn: IntentEvent = { type: 'approval_withdrawn', by: given.by };
  // Others have agreed to what is asked now, and this person to an older request.
  const stands = intent.state === 'authorized' && isComplete(without(approvals, by), newestOf(approvals));
  return stands ? accept(withdrawn, clearedFor(intent)) : accept(withdrawn);
}

function showPreview(
  { of, request }: Extract<Command, { type: 'show_preview' }>,
  approvals: Approvals,
  intent: Intent,
  now: number,
): Decision {
  const newest = newestOf(approvals);
  if (intent.state !== 'awaiting_approval' || newest.digest !== of || !wantsPreview(newest)) return unchanged;
  // It has failed once more, in the same way.
  if (request.preview?.kind === 'failed' && newest.preview?.kind === 'failed') {
    if (request.preview.detail === newest.preview.detail) return unchanged;
  }
  const lapse = lapseOf(intent, now);
  return accept(lapse ?? { type: 'approval_requested', request });
}

/** Once for what is asked now. What may have run is completed, whatever the rules of now say. */
function judgeAgain(
  { of, ruling }: Extract<Command, { type: 'judge_again' }>,
  approvals: Approvals,
  intent: Intent,
  now: number,
): Decision {
  const newest = newestOf(approvals);
  if (intent.state !== 'awaiting_approval' || newest.digest !== of || isJudged(newest)) return unchanged;
  const lapse = lapseOf(intent, now);
  if (lapse) return accept(lapse);
  return ruling.allow === false && mayHaveRun(intent.attempts) ? unchanged : accept(ruled(ruling));
}

/** States in which nothing is left to be agreed to or taken back. */
const over: ReadonlySet<Intent['state']> = new Set(['denied', 'cancelled', 'expired']);

function isWaiting(intent: Intent): intent is In<'awaiting_approval' | 'authorized'> {
  return intent.state === 'awaiting_approval' || intent.state === 'authorized';
}

/** Of each list that is not empty, the person has one. */
export function isEntitled(
  { roles, groups }: Pick<Approver, 'roles' | 'groups'>,
  request: Pick<ApprovalRequest, 'roles' | 'groups'>,
): boolean {
  const has = (own: readonly string[], wanted: readonly string[]) =>
    wanted.length === 0 || wanted.some((each) => own.includes(each));
  return has(roles, request.roles) && has(groups, request.groups);
}

function isRequester({ name }: Approver, { proposal }: Intent): boolean {
  return isSamePerson(name, proposal.user);
}

function refusal(by: string, reason: string, intent: Intent) {
  return {
    code: 'approval_refused',
    message: `${by} refused ${intent.proposal.tool}: ${sentence(reason)} ${nothingDone(intent)}. Do not call it again, and do not change the call to get around this.`,
    details: { by, reason },
  };
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
