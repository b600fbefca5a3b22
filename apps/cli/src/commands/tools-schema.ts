import { type CatalogueCost, catalogueCost, toolFileSchema } from '@intendant/tools';
import type { Command } from 'commander';
import { checkTools } from '../check-tools.js';
import { type Flags, Settings } from '../config.js';
import type { Context } from '../context.js';
import { WrongUsage } from '../errors.js';
import { problemLine } from '../problem-line.js';
import { type Columns, table } from '../table.js';

const bytes: Columns<CatalogueCost> = {
  MCP: (c) => c.mcp.bytes,
  TOKENS: (c) => `~${c.mcp.tokens}`,
  HTTP: (c) => c.http.bytes,
};
const tools: Columns<CatalogueCost> = { TOOL: (c) => c.name, ...bytes };
const namespaces: Columns<CatalogueCost> = { NAMESPACE: (c) => c.name, TOOLS: (c) => c.tools, ...bytes };

export function addToolsSchema(parent: Command, context: Context): void {
  parent
    .command('schema')
    .description('the JSON Schema of tool files; with --cost, what tools take of the context of a model')
    .argument('[path]', 'for --cost: a tool file, or a directory (INTENDANT_TOOLS_DIR, or that of the running stack)')
    .option('--cost', 'bytes and approximate tokens of what a model sees, by tool and by namespace')
    .option('--json', 'print JSON')
    .action(async (given: string | undefined, _: unknown, command: Command) => {
      const options = command.optsWithGlobals<Flags & { cost?: boolean; json?: boolean }>();
      if (!options.cost) {
        if (given !== undefined) throw new WrongUsage('a path goes with --cost only');
        return context.out(JSON.stringify(toolFileSchema, null, options.json ? 0 : 2));
      }
      const env = new Settings(context, options).serviceEnvironment;
      const location = given ?? env['INTENDANT_TOOLS_DIR'];
      if (!location) throw new WrongUsage('This needs tools: give a path or INTENDANT_TOOLS_DIR.');
      const read = await checkTools(context.directory, location, env);
      if (read.problems.length > 0) {
        context.failed();
        if (options.json) return context.out(JSON.stringify({ problems: read.problems }));
        for (const problem of read.problems) context.out(problemLine(problem));
        return;
      }
      const cost = catalogueCost(read.tools.map(({ tool }) => tool));
      if (options.json) return context.out(JSON.stringify(cost));
      for (const line of table(cost.tools, tools, 'no tools')) context.out(line);
      context.out('');
      for (const line of table([...cost.namespaces, cost.total], namespaces, 'no tools')) context.out(line);
      context.out('');
      context.out('Bytes of JSON: MCP as tools/list has them, with the tools of the server; HTTP as GET /v1/tools.');
      context.out(`Tokens: of MCP, about one for 4 bytes. With /mcp?tools=search: ~${cost.search.tokens} in all.`);
    });
}
