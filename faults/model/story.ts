import type { Command, IntentEvent } from '@intendant/intent';
import type { Request } from './upstream.js';

/** A command as a timeline tells it. */
export function told(command: Command): string {
  switch (command.type) {
    case 'record_lookup':
    case 'record_poll':
      return `${command.type} (${command.answer.kind}, asked at ${command.askedAt})`;
    case 'record_verdict':
      return `${command.type} (${command.attemptId}: ${command.verdict.kind})`;
    case 'start_attempt':
      return `${command.type} (${command.attemptId}${command.verified ? `, matching ${command.verified.matching.join(', ') || 'nothing'}` : ''})`;
    case 'approve':
    case 'refuse':
      return `${command.type} (${command.approver.name}: ${command.digest})`;
    case 'withdraw':
      return `${command.type} (${command.by})`;
    default:
      return command.type;
  }
}

/** What the world knows about a request. */
export function fateOf(request: Request | undefined): string {
  if (!request) return 'not sent';
  const effect = request.runsAt === null ? 'no effect' : `effect at ${request.runsAt}`;
  const told = request.verdict ? `${request.verdict.kind} at ${request.answeredAt}` : 'dies before it learns anything';
  return `bytes arrive at ${request.arrivesAt}, ${effect}, ${told}`;
}

/** The dangerous state that an event shows, if it shows one. */
export function dangerousState(event: IntentEvent): string | null {
  switch (event.type) {
    case 'outcome_unknown':
      return 'outcome unknown';
    case 'lookup_absent':
      return event.absences > 1 ? 'two absences' : null;
    case 'authorized':
      if (event.basis === 'approved') return 'agreed to';
      return event.basis === 'same_key' ? 'resend under the same key' : null;
    case 'approval_requested':
      return event.differs === undefined ? 'people asked' : 'asked anew';
    case 'approval_withdrawn':
      return 'approval taken back';
    case 'denied':
      return event.failure.code === 'approval_expired' ? 'approval expired' : 'refused by a person';
    case 'corrected':
      return 'late evidence';
    case 'dead_lettered':
      return 'dead letter';
    case 'replay_requested':
      return 'replay';
    default:
      return null;
  }
}
