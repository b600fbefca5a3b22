import type { Kind, PolicyFile, PolicySet } from '@intendant/rules';
import type { Command } from 'commander';
import type { Context } from '../context.js';
import { problemLine } from '../problem-line.js';
import { type PolicyOptions, readPolicies, toolsOption } from '../read-policies.js';
import { type Columns, table } from '../table.js';

const count =
  (kind: Kind) =>
  ({ rules }: PolicyFile) =>
    rules.filter(({ then }) => then === kind).length;

const columns: Columns<PolicyFile> = {
  FOR: ({ tenant }) => (tenant === null ? 'everybody' : `tenant ${tenant}`),
  DENY: count('deny'),
  REQUIRE_APPROVAL: count('require_approval'),
  ALLOW: count('allow'),
  'SERVICE KEYS': ({ serviceKeys }) => [...serviceKeys.keys()].join(', ') || null,
};

export function addRulesLint(parent: Command, context: Context): void {
  parent
    .command('lint')
    .description('check policy files, without any service, and show what there is')
    .argument('[folder]', 'a directory of *.policy.yaml (INTENDANT_POLICY_DIR, or that of the running stack)')
    .option(...toolsOption)
    .option('--json', 'print JSON')
    .action(async (folder: string | undefined, _: unknown, command: Command) => {
      const options = command.optsWithGlobals<PolicyOptions & { json?: boolean }>();
      const { problems, set } = await readPolicies(context, folder, options);
      if (problems.length > 0) context.failed();
      if (options.json) return context.out(JSON.stringify({ ...asJson(set), problems }));
      for (const problem of problems) context.out(problemLine(problem));
      if (set === null) return;
      for (const line of table(set.files, columns, '')) context.out(line);
      const files = `${set.files.length} ${set.files.length === 1 ? 'file' : 'files'}`;
      context.out(`${files}, no problems; what no rule matches: ${set.default}; version ${set.version}`);
    });
}

function asJson(set: PolicySet | null): object {
  if (set === null) return { version: null, default: null, files: [] };
  return {
    version: set.version,
    default: set.default,
    files: set.files.map(({ tenant, rules, serviceKeys, perTenant }) => ({
      tenant,
      rules: rules.map(({ name, then, tools, usesRun }) => ({ name, then, tools, usesRun })),
      serviceKeys: [...serviceKeys.keys()],
      ratePerTenant: perTenant,
    })),
  };
}
