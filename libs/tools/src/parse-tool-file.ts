import type { SessionField, ToolDefinition } from '@intendant/contracts';
import type { Effect } from '@intendant/intent';
import { checkApproval } from './check-approval.js';
import { checkConstant } from './check-constant.js';
import { checkCost } from './check-cost.js';
import { checkGuarantee } from './check-guarantee.js';
import { checkOutcomes } from './check-outcomes.js';
import { checkPreview } from './check-preview.js';
import { checkQuestions } from './check-questions.js';
import { checkReceipt } from './check-receipt.js';
import { checkRequests } from './check-requests.js';
import { checkResult } from './check-result.js';
import { checkSandbox } from './check-sandbox.js';
import { checkSchemas } from './check-schemas.js';
import { checkShape } from './check-shape.js';
import { checkSupported } from './check-supported.js';
import { checkWindows } from './check-windows.js';
import { contractOf } from './contract.js';
import type { Environment } from './environment.js';
import { readFilledIn } from './filled-in.js';
import { readIdentifiers } from './identifiers.js';
import { digest } from './key.js';
import { notesOn } from './notes-on.js';
import { readApproval } from './read-approval.js';
import { readRedaction } from './read-result.js';
import { readLimits, readTerms } from './read-terms.js';
import { readSandbox, readUpstream } from './read-upstream.js';
import { checkSameness, readBusinessKey, readSimilar } from './same-calls.js';
import { ToolFileError } from './tool-file-error.js';
import { toolFileSchema } from './tool-file-schema.js';
import { ToolSource } from './tool-source.js';
import type { Spans, Window } from './windows.js';

/**
 * Reads one tool file.
 *
 * @param file name for messages.
 * @param text YAML.
 * @param env variables that `upstream` may refer to.
 * @throws ToolFileError with every problem of the file.
 */
export function parseToolFile(file: string, text: string, env: Environment): ToolDefinition {
  return readTool(new ToolSource(file, text, env)).tool;
}

/** A good tool file with what there is to say about it. */
export interface ReadTool {
  readonly tool: ToolDefinition;
  /** Its time windows, all of which hold. */
  readonly windows: readonly Window[];
  /** Sentences about what is right, but less than the file seems to say. */
  readonly notes: readonly string[];
}

/** @throws ToolFileError with every problem of the file. */
export function readTool(source: ToolSource): ReadTool {
  checkSupported(source);
  checkShape(source, toolFileSchema);
  checkSchemas(source);
  checkSameness(source);
  checkApproval(source);
  checkCost(source);
  checkRequests(source);
  checkQuestions(source);
  checkPreview(source);
  checkConstant(source);
  checkOutcomes(source);
  checkSandbox(source);
  checkGuarantee(source);
  checkReceipt(source);
  checkResult(source);
  // Numbers that are wrong in themselves fit nothing.
  const checked = source.problems.length === 0 ? checkWindows(source) : null;
  const tool = checked && source.problems.length === 0 ? define(source, checked.spans) : null;
  if (checked === null || tool === null || source.problems.length > 0) throw new ToolFileError(source.problems);
  return { tool, windows: checked.windows, notes: notesOn(source, checked.spans) };
}

function define(source: ToolSource, spans: Spans): ToolDefinition {
  const { reversible, phases, version } = source.data;
  const contracted = {
    name: source.text('name') ?? '',
    version: Number(version),
    effect: source.text('effect') as Effect,
    permission: source.text('permission') ?? '',
    input: source.object('input') ?? {},
    output: source.object('output'),
  };
  const contract = contractOf(contracted);
  return {
    ...contracted,
    description: (source.text('description') ?? '').trim(),
    reversible: typeof reversible === 'boolean' ? reversible : null,
    phases: Array.isArray(phases) ? phases.map(String) : null,
    similar: readSimilar(source),
    identifiers: readIdentifiers(source),
    whenTainted: whenTainted(source),
    approval: readApproval(source, spans),
    inject: (source.object('inject') ?? {}) as Record<string, SessionField>,
    limits: readLimits(source, spans),
    businessKey: readBusinessKey(source),
    terms: readTerms(source, spans),
    upstream: readUpstream(source),
    sandbox: readSandbox(source),
    redaction: readRedaction(source),
    filledIn: readFilledIn(source),
    contract,
    contractDigest: digest(contract),
    fileDigest: digest(source.written),
    file: source.file,
  };
}

function whenTainted(source: ToolSource): ToolDefinition['whenTainted'] {
  const value = source.text('whenTainted');
  return value === 'deny' || value === 'require_approval' ? value : 'allow';
}
