import { counter, type Logger } from '@intendant/runtime';
import type { LateEvidence } from '@intendant/store';

const corrections = counter({
  name: 'intendant_corrections_total',
  help: 'Evidence that came too late to count: each is somebody to be told.',
  labels: ['tool', 'finding'],
});

/** The alarm about evidence that came too late: somebody was told otherwise, and a person has to look at it. */
export function alarm(logger: Logger): (evidence: LateEvidence) => void {
  return ({ intent, event }) => {
    const { intentId, tool, sandbox } = intent.proposal;
    const { attempt, finding, breach } = event;
    corrections.labels(tool, finding).inc();
    logger.error({ intentId, tool, sandbox, attempt, finding, breach, state: intent.state }, meaning(finding, breach));
  };
}

const findings: Readonly<Record<LateEvidence['event']['finding'], string>> = {
  executed: 'an effect that was not believed in',
  partial_effect: 'parts of an effect that was not believed in',
  second_effect: 'an effect too many',
};

function meaning(finding: LateEvidence['event']['finding'], breach: LateEvidence['event']['breach']): string {
  const what = findings[finding];
  return breach === undefined
    ? `late evidence: ${what}`
    : `late evidence: ${what}; the upstream exceeded its declared maximum processing time`;
}
