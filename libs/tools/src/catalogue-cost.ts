import type { ToolDefinition } from '@intendant/contracts';
import { catalogueEntry } from './catalogue.js';
import { mcpTool } from './mcp-tool.js';
import { callTool, ownTools } from './own-tools.js';

const bytesPerToken = 4;

/** What a list of tools takes of a model's context where all of it is put there. */
export interface ListingCost {
  /** JSON in UTF-8. */
  readonly bytes: number;
  /** A fourth of the bytes, rounded up; what a model really counts differs by its tokenizer. */
  readonly tokens: number;
}

/** What one tool, or several, take where they are listed. */
export interface CatalogueCost {
  /** Of a tool, or the first word of the names of several. */
  readonly name: string;
  readonly tools: number;
  /** As `tools/list` of the MCP server has them. */
  readonly mcp: ListingCost;
  /** As `GET /v1/tools` has them. */
  readonly http: ListingCost;
}

/** What tools cost whoever sees them all, and by namespace, those of the MCP server's own among them; the dearest first. */
export function catalogueCost(tools: readonly ToolDefinition[]): {
  readonly tools: readonly CatalogueCost[];
  readonly namespaces: readonly CatalogueCost[];
  readonly total: CatalogueCost;
  /** Over MCP where tools are searched for (`/mcp?tools=search`): nothing but the server's own. */
  readonly search: ListingCost;
} {
  const own = ownTools.map((tool): Size => ({ name: tool.name, mcp: bytesOf(tool), http: 0 }));
  const sizes = [...tools.map(sizeOf), ...own];
  const names = [...new Set(sizes.map(({ name }) => namespaceOf(name)))];
  return {
    tools: sizes.map((size) => sum(size.name, [size])).sort(dearestFirst),
    namespaces: names
      .map((name) =>
        sum(
          name,
          sizes.filter((size) => namespaceOf(size.name) === name),
        ),
      )
      .sort(dearestFirst),
    total: sum('total', sizes),
    search: costOf(own.reduce((all, { mcp }) => all + mcp, bytesOf(callTool))),
  };
}

interface Size {
  readonly name: string;
  readonly mcp: number;
  readonly http: number;
}

function sizeOf(tool: ToolDefinition): Size {
  const entry = catalogueEntry(tool);
  return { name: tool.name, mcp: bytesOf(mcpTool(entry)), http: bytesOf(entry) };
}

function namespaceOf(name: string): string {
  return name.split('.')[0] ?? name;
}

function bytesOf(listed: object): number {
  return Buffer.byteLength(JSON.stringify(listed));
}

function sum(name: string, sizes: readonly Size[]): CatalogueCost {
  const [mcp, http] = [sizes.reduce((all, size) => all + size.mcp, 0), sizes.reduce((all, size) => all + size.http, 0)];
  return { name, tools: sizes.length, mcp: costOf(mcp), http: costOf(http) };
}

function costOf(bytes: number): ListingCost {
  return { bytes, tokens: Math.ceil(bytes / bytesPerToken) };
}

function dearestFirst(a: CatalogueCost, b: CatalogueCost): number {
  return b.mcp.bytes - a.mcp.bytes || (a.name < b.name ? -1 : 1);
}
