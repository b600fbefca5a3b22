import type { In } from '@intendant/intent';

/** What every answer about an intent without an outcome ends with, so that nobody tries it again in other words. */
export function doNotRepeat(intentId: string): string {
  return `Do not call it again; read intent ${intentId} or wait for its outcome.`;
}

/** What is told of an intent that nothing went wrong with so far: what is known, what is being done, and not to call again. */
export function openSummary(intent: In<'pending' | 'authorized' | 'dispatching'>): string {
  const { tool, intentId } = intent.proposal;
  if (intent.cancelledBy !== null) {
    return `${tool} is being cancelled for ${intent.cancelledBy}: it may have happened already, which is being found out. ${doNotRepeat(intentId)}`;
  }
  return `${tool} is still being worked on: ${soFar(intent)}. ${doNotRepeat(intentId)}`;
}

function soFar({ state, attempts }: In<'pending' | 'authorized' | 'dispatching'>): string {
  switch (state) {
    case 'pending':
      return 'it is recorded, nothing was sent yet';
    case 'authorized':
      return attempts.length > 0 ? 'it was turned away and is about to be sent again' : 'it is about to be sent';
    case 'dispatching':
      return 'it is at its upstream, which has not answered yet';
  }
}
