import {
  type Breach,
  type Finding,
  givenTo,
  type In,
  type Intent,
  type Json,
  newestOf,
  type Outcome,
  outcomeOf,
  type StateName,
} from '@intendant/intent';
import { type ErrorCode, type ErrorObject, errorKinds, errorObject } from './errors.js';
import { outsideWarning } from './fence.js';
import { doNotRepeat, openSummary } from './open-summary.js';
import { shownData } from './shown-data.js';

/** The one answer about an intent, the same on every surface. */
export interface IntentResult {
  readonly intentId: string;
  readonly runId: string;
  readonly stepId: string | null;
  readonly tool: string;
  readonly status: StateName;
  /** What is known about the effect. */
  readonly outcome: Outcome;
  /** True when this answers a repeated submit from the first one. */
  readonly replayed: boolean;
  /** Only there for sandbox calls: nothing real happened, whatever `outcome` says. */
  readonly sandbox?: true;
  /** Null also where it is too large to be shown: `summary` says so then. A declared list may be shortened. */
  readonly data: Json;
  readonly summary: string | null;
  /** Reads the data by page where not all of it is shown. */
  readonly handle: string | null;
  readonly error: ErrorObject | null;
  /** How many items a declared list has in all; left out where the tool declares none. */
  readonly total?: number;
  /** Only there where data or error may hold text from outside; `warning` tells a reader what that means. */
  readonly untrusted?: true;
  readonly warning?: string;
  /** Id of the intent by which its run had read text from outside before; left out where it had not. */
  readonly taintedBy?: string;
  /** Only there while it waits for people. */
  readonly approval?: WaitingApproval;
  /** Evidence that came too late to change the status silently; left out where there is none. */
  readonly corrections?: readonly {
    readonly finding: Finding;
    /** The declaration that the upstream broke, where the evidence shows one. */
    readonly breach: Breach | null;
  }[];
}

/** What is waited for. */
export interface WaitingApproval {
  /** The action in words. */
  readonly view: string;
  /** Why a person is asked. */
  readonly why: readonly string[];
  /** The user whom its run acts for. */
  readonly requester: string;
  /** RFC 3339: then nobody can agree any more. */
  readonly expiresAt: string;
  readonly quorum: number;
  /** How many have agreed to it as it is now. */
  readonly given: number;
}

export function resultOf(intent: Intent, replayed: boolean): IntentResult {
  const { intentId, runId, stepId, tool, sandbox, taintedBy } = intent.proposal;
  const error = errorOf(intent);
  const shown = intent.state === 'committed' ? shownData(intent) : { data: null, summary: null, handle: null };
  const result: IntentResult = {
    intentId,
    runId,
    stepId,
    tool,
    status: intent.state,
    outcome: outcomeOf(intent),
    replayed,
    ...shown,
    error,
  };
  if (isFromOutside(intent)) Object.assign(result, { untrusted: true, warning: outsideWarning });
  if (sandbox) Object.assign(result, { sandbox });
  if (taintedBy) Object.assign(result, { taintedBy });
  if (intent.state === 'awaiting_approval') {
    const approval = waitingApproval(intent);
    const sent = intent.attempts.some((attempt) => attempt.sent);
    Object.assign(result, { summary: waitsFor(intent, sent, approval), approval });
  } else if (error === null && isOpen(intent)) {
    Object.assign(result, { summary: openSummary(intent) });
  }
  if (intent.corrections.length > 0) {
    Object.assign(result, { corrections: intent.corrections.map(({ finding, breach }) => ({ finding, breach })) });
  }
  return result;
}

function waitingApproval({ proposal, approvals }: In<'awaiting_approval'>): WaitingApproval {
  const request = newestOf(approvals);
  return {
    view: request.view,
    why: request.demands.map(({ message }) => message),
    requester: proposal.user,
    expiresAt: new Date(request.expiresAt).toISOString(),
    quorum: request.quorum,
    given: givenTo(approvals, request).length,
  };
}

function waitsFor({ proposal }: Intent, sent: boolean, { expiresAt, quorum, given }: WaitingApproval): string {
  const { tool, intentId } = proposal;
  const who = quorum === 1 ? 'a person' : `${quorum} people (${given} so far)`;
  const how = sent ? 'was turned away once and is not sent again yet' : 'was not sent yet';
  return `${tool} ${how}: it waits for the approval of ${who}, until ${expiresAt}. ${doNotRepeat(intentId)}`;
}

function isOpen(intent: Intent): intent is In<'pending' | 'authorized' | 'dispatching'> {
  return ['pending', 'authorized', 'dispatching'].includes(intent.state);
}

/** True where its tool passes on what others wrote, and has answered: errors repeat what was said, too. */
export function isFromOutside({ proposal, attempts, state }: Intent): boolean {
  if (proposal.terms.untrusted !== true) return false;
  return state === 'committed' || attempts.some(({ sent, verdict }) => sent && verdict !== 'open');
}

/** Nothing more will happen by itself: terminal, or waiting for a person. */
export function isSettled(status: StateName): boolean {
  return !['pending', 'awaiting_approval', 'authorized', 'dispatching', 'accepted', 'unknown'].includes(status);
}

/** 200 or the error's own status once settled, 202 as long as the outcome is open or a person is needed. */
export function httpStatusOf(result: IntentResult): number {
  if (result.error) return errorKinds[result.error.code].http;
  return result.status === 'committed' ? 200 : 202;
}

function errorOf(intent: Intent): ErrorObject | null {
  const error = errorOfState(intent);
  if (error === null || intent.state === 'committed' || outcomeOf(intent) !== 'executed') return error;
  const { tool, intentId } = intent.proposal;
  // What the state says was believed at the time; a retry on the strength of it would double the effect.
  return {
    ...error,
    message: `${tool} was reported as ${intent.state}, but it turned out later that it did happen. Do not call it again; read the corrections of intent ${intentId}.`,
    retryable: false,
    nextAction: 'check_outcome',
    details: { ...error.details, corrected: true },
  };
}

/** Causes that other arguments would not change: what is wrong is the tool file, its credential, or this installation. */
const ownersFault = /^(egress_refused|no_sandbox|tls_failed|http_(307|308|401|403|405|407|501|505|511|525|526))$/;

function errorOfState(intent: Intent): ErrorObject | null {
  const { tool, intentId } = intent.proposal;
  switch (intent.state) {
    case 'committed':
      return null;
    case 'failed':
    case 'denied': {
      const { code, message, details } = intent.failure;
      const error = errorObject(code in errorKinds ? (code as ErrorCode) : 'internal', message, details);
      // It has to be read before it can be proposed anew.
      if (details['cause'] === 'state_changed') return { ...error, nextAction: 'check_outcome' };
      return ownersFault.test(String(details['cause'])) ? { ...error, nextAction: 'stop' } : error;
    }
    case 'cancelled':
      return errorObject('cancelled', `${tool} was cancelled by ${intent.by} before it was sent. Nothing happened.`);
    case 'expired':
      return errorObject(
        'expired',
        `${tool} was not sent in the time its run allowed. Nothing happened and nothing will be sent.`,
      );
    case 'dead_lettered':
      if (outcomeOf(intent) === 'undecided') {
        const why =
          intent.reason === 'adapter_missing'
            ? `${tool} was not sent, since what sends it is missing (${intent.detail})`
            : `${tool} was sent and provably had no effect (${intent.reason}: ${intent.detail})`;
        return errorObject(
          'dead_lettered',
          `${why}. Nothing happened so far. Do not call it again; an operator can have intent ${intentId} sent, or close it.`,
          { reason: intent.reason },
        );
      }
      return errorObject(
        'dead_lettered',
        `It is not known whether ${tool} happened, and only a person can find out (${intent.reason}: ${intent.detail}). Do not call it again; an operator has to resolve intent ${intentId}.`,
        { reason: intent.reason },
      );
    case 'unknown':
      return errorObject(
        'outcome_unknown',
        `The outcome of ${tool} is not known (${intent.cause}). It may or may not have happened; ${whoLooks(intent)}.${cancelled(intent)} ${doNotRepeat(intentId)}`,
        { cause: intent.cause },
      );
    case 'accepted':
      return errorObject(
        'outcome_unknown',
        `The upstream of ${tool} took the request and is still working on it. ${doNotRepeat(intentId)}`,
        { cause: 'accepted' },
      );
    case 'pending':
    case 'awaiting_approval':
    case 'authorized':
    case 'dispatching':
      return outcomeOf(intent) === 'unknown'
        ? errorObject(
            'outcome_unknown',
            `${tool} is being sent again after an attempt without an answer.${cancelled(intent)} ${doNotRepeat(intentId)}`,
          )
        : null;
  }
}

/** What became of the wish that it does not happen, as part of a sentence about something else. */
function cancelled({ cancelledBy }: Intent): string {
  return cancelledBy === null ? '' : ` It was cancelled by ${cancelledBy} and will not be sent again.`;
}

function whoLooks({ proposal: { terms } }: Intent): string {
  return terms.lookup === 'none' && terms.guarantee === 'none' ? 'only a person can find out' : 'this is being checked';
}
