import type { JsonObject } from '@intendant/intent';
import {
  checkEnding,
  filesIn,
  ToolFileError,
  type ToolFileProblem,
  ToolSource,
  textOf,
  versionOfPolicies,
} from '@intendant/tools';
import { type PolicyFile, type PolicySet, policySetOf } from './policy-set.js';
import { readPolicyFile } from './read-policy-file.js';

/**
 * Reads every `*.policy.yaml` of a folder; there must be one at least, and no `*.policy.yml`, which would be left out without
 * a word.
 *
 * @param folder null or empty: there are no policies, and everything is allowed that nothing else forbids.
 * @param tools names of the tools that are loaded.
 * @throws ToolFileError with every problem of every file.
 */
export async function readPolicyFiles(folder: string | null, tools: readonly string[]): Promise<PolicySet> {
  if (folder === null || folder === '') return parsePolicyFiles([], tools);
  const problems: ToolFileProblem[] = [];
  const texts: PolicyText[] = [];
  for (const file of await filesIn(folder, 'policy')) {
    try {
      checkEnding(file, 'policy');
      texts.push({ file, text: await textOf(file) });
    } catch (error) {
      problems.push(...problemsOf(error));
    }
  }
  try {
    const set = parsePolicyFiles(texts, tools);
    if (problems.length === 0) return set;
  } catch (error) {
    problems.push(...problemsOf(error));
  }
  throw new ToolFileError(problems);
}

/** A policy file by its name for messages, and its YAML. */
export interface PolicyText {
  readonly file: string;
  readonly text: string;
}

/** The same for files that were read. @throws ToolFileError with every problem of every file. */
export function parsePolicyFiles(texts: readonly PolicyText[], tools: readonly string[]): PolicySet {
  const claims = new Claims();
  const files: PolicyFile[] = [];
  const contents: JsonObject[] = [];
  const problems: ToolFileProblem[] = [];
  const sources = texts.flatMap(({ file, text }) => {
    try {
      return [new ToolSource(file, text, {})];
    } catch (error) {
      problems.push(...problemsOf(error));
      return [];
    }
  });
  for (const source of sources) {
    const file = readPolicyFile(source, tools);
    claims.check(source, file);
    problems.push(...source.problems);
    files.push(file);
    contents.push(source.data);
  }
  if (problems.length > 0) throw new ToolFileError(problems);
  return policySetOf(files, versionOfPolicies(contents));
}

/** What may be said once only, over all files. */
class Claims {
  private readonly tenants = new Map<string | null, string>();
  private readonly rules = new Map<string, string>();
  private readonly general = new Map<string, string>();
  private readonly own = new Map<string, string>();

  check(source: ToolSource, { tenant, rules, serviceKeys }: PolicyFile): void {
    const whom = tenant === null ? 'the whole deployment' : `the tenant ${tenant}`;
    claim(this.tenants, tenant, source, tenant === null ? ['apiVersion'] : ['tenant'], `a file for ${whom}`);
    for (const [index, { name }] of rules.entries()) {
      if (name !== '') claim(this.rules, name, source, ['rules', `${index}`, 'name'], `a rule named ${name}`);
    }
    // One for everybody and one for a tenant would both be for that tenant.
    const [mine, others] = tenant === null ? [this.general, this.own] : [this.own, this.general];
    for (const name of serviceKeys.keys()) {
      const other = others.get(name);
      if (other === undefined) mine.set(name, source.file);
      else source.report(['serviceKeys', name], defined(`the service key ${name}`, other));
    }
  }
}

function claim<T>(claimed: Map<T, string>, name: T, source: ToolSource, path: readonly string[], what: string): void {
  const other = claimed.get(name);
  if (other === undefined) claimed.set(name, source.file);
  else source.report(path, defined(what, other));
}

function defined(what: string, file: string): string {
  return `${what} is in ${file} too; must be in one place, so join or remove one of them`;
}

/** @throws whatever else it is. */
function problemsOf(error: unknown): readonly ToolFileProblem[] {
  if (error instanceof ToolFileError) return error.problems;
  throw error;
}
