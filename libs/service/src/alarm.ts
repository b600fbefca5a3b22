import type { Logger } from '@intendant/runtime';
import type { LateEvidence } from '@intendant/store';

/** The alarm about evidence that came too late: somebody was told otherwise, and a person has to look at it. */
export function alarm(logger: Logger): (evidence: LateEvidence) => void {
  return ({ intent, event }) => {
    const { intentId, tool, sandbox } = intent.proposal;
    const { attempt, finding, breach } = event;
    logger.error({ intentId, tool, sandbox, attempt, finding, breach, state: intent.state }, meaning(finding, breach));
  };
}

function meaning(finding: LateEvidence['event']['finding'], breach: LateEvidence['event']['breach']): string {
  const what = finding === 'second_effect' ? 'an effect too many' : 'an effect that was not believed in';
  return breach === undefined
    ? `late evidence: ${what}`
    : `late evidence: ${what}; the upstream exceeded its declared maximum processing time`;
}
