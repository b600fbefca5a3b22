import type { ToolDefinition } from '@intendant/contracts';
import {
  type ApprovalRequest,
  type Approvals,
  type Intent,
  newestOf,
  type Proposal,
  type Verification,
} from '@intendant/intent';
import { renderImpact, renderView } from '@intendant/policy';
import { boundText, renewed, type Seals, valuesOf } from './request.js';

/** What would be done now, and by which rules. */
export interface Circumstances {
  readonly tool: ToolDefinition;
  /** Version of the policy files. */
  readonly policy: string;
  readonly nonce: string;
}

/** Which of the requests are about exactly what would be sent now, and what would be asked if none is. */
export function verify(
  intent: Pick<Intent, 'proposal' | 'version'> & { readonly approvals: Approvals },
  circumstances: Circumstances,
  seals: Seals,
): Verification {
  const { proposal, approvals, version } = intent;
  const matching = approvals.requests.filter((request) => matches(request, proposal, circumstances, seals));
  const newest = newestOf(approvals);
  return {
    version,
    matching: matching.map(({ digest }) => digest),
    differs: matching.includes(newest) ? [] : differences(newest, proposal, circumstances),
    renewed: matching.length > 0 ? null : renewed(newest, { proposal, ...circumstances }, seals),
  };
}

/** What was asked is what is asked now, and the record of it is the one that was sealed: nobody was shown anything else. */
function matches(request: ApprovalRequest, proposal: Proposal, { tool, policy }: Circumstances, seals: Seals): boolean {
  const values = valuesOf(proposal);
  return (
    request.policy === policy &&
    request.toolFile === tool.fileDigest &&
    request.view === renderView(tool, values) &&
    request.impact === renderImpact(tool, values) &&
    seals.fits(request.digest, boundText(proposal, request))
  );
}

/** In words for whoever agreed to it. */
function differences(request: ApprovalRequest, proposal: Proposal, { tool, policy }: Circumstances): string[] {
  const changed = [
    ...(request.toolFile === tool.fileDigest ? [] : [`the tool file of ${tool.name}`]),
    ...(request.policy === policy ? [] : ['the policy files']),
    ...(request.view === renderView(tool, valuesOf(proposal)) ? [] : ['what the action says']),
  ];
  return changed.length > 0 ? changed : ['the record of what was asked, or the key that it is sealed with'];
}
