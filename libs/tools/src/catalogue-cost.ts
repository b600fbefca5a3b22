import type { ToolDefinition } from '@intendant/contracts';
import { catalogueEntry } from './catalogue.js';

const bytesPerToken = 4;

/** What one entry, or several, of the catalogue take of a model's context. */
export interface CatalogueCost {
  /** Of a tool, or the first word of the names of several. */
  readonly name: string;
  readonly tools: number;
  /** JSON in UTF-8 of name, description, input schema and output schema. */
  readonly bytes: number;
  /** A fourth of the bytes, rounded up; what a model really counts differs by its tokenizer. */
  readonly tokens: number;
}

/** What tools cost whoever sees them all, and by namespace; the most expensive first. */
export function catalogueCost(tools: readonly ToolDefinition[]): {
  readonly tools: readonly CatalogueCost[];
  readonly namespaces: readonly CatalogueCost[];
  readonly total: CatalogueCost;
} {
  const sizes = tools.map((tool) => ({ name: tool.name, bytes: bytesOf(tool) }));
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
  };
}

function namespaceOf(name: string): string {
  return name.split('.')[0] ?? name;
}

function bytesOf(tool: ToolDefinition): number {
  const { name, description, inputSchema, outputSchema } = catalogueEntry(tool);
  return Buffer.byteLength(JSON.stringify({ name, description, inputSchema, outputSchema }));
}

function sum(name: string, sizes: readonly { readonly bytes: number }[]): CatalogueCost {
  const bytes = sizes.reduce((all, size) => all + size.bytes, 0);
  return { name, tools: sizes.length, bytes, tokens: Math.ceil(bytes / bytesPerToken) };
}

function dearestFirst(a: CatalogueCost, b: CatalogueCost): number {
  return b.bytes - a.bytes || (a.name < b.name ? -1 : 1);
}
