import type { SessionField, ToolDefinition } from '@intendant/contracts';
import type { Effect } from '@intendant/intent';
import { checkGuarantee } from './check-guarantee.js';
import { checkRequests } from './check-requests.js';
import { checkSchemas } from './check-schemas.js';
import { checkShape } from './check-shape.js';
import { checkSupported } from './check-supported.js';
import { contractOf } from './contract.js';
import type { Environment } from './environment.js';
import { digest } from './key.js';
import { readLimits, readTerms } from './read-terms.js';
import { readSandbox, readUpstream } from './read-upstream.js';
import { ToolFileError } from './tool-file-error.js';
import { ToolSource } from './tool-source.js';

/**
 * Reads one tool file.
 *
 * @param file name for messages.
 * @param text YAML.
 * @param env variables that `upstream` may refer to.
 * @throws ToolFileError with every problem of the file.
 */
export function parseToolFile(file: string, text: string, env: Environment): ToolDefinition {
  return readTool(new ToolSource(file, text, env));
}

/** @throws ToolFileError with every problem of the file. */
export function readTool(source: ToolSource): ToolDefinition {
  checkSupported(source);
  checkShape(source);
  checkSchemas(source);
  checkRequests(source);
  checkGuarantee(source);
  const tool = source.problems.length === 0 ? define(source) : null;
  if (tool === null || source.problems.length > 0) throw new ToolFileError(source.problems);
  return tool;
}

function define(source: ToolSource): ToolDefinition {
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
    inject: (source.object('inject') ?? {}) as Record<string, SessionField>,
    limits: readLimits(source),
    terms: readTerms(source),
    upstream: readUpstream(source),
    sandbox: readSandbox(source),
    contract,
    contractDigest: digest(contract),
    file: source.file,
  };
}
