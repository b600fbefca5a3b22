import type { Json, JsonObject } from '@intendant/intent';
import { isMap, isScalar, isSeq, LineCounter, type YAMLMap } from 'yaml';
import { parseDuration } from './duration.js';
import { type Environment, fillIn, maskReferences, unmaskReferences } from './environment.js';
import { readYaml } from './read-yaml.js';
import type { ToolFileProblem } from './tool-file-error.js';

/** Where a field is: names and indexes from the root of the file. */
export type Path = readonly string[];

/** A variable that was filled in. */
export interface Variable {
  readonly path: Path;
  readonly name: string;
  readonly value: string;
  /** Where it begins in the text that it is a part of now. */
  readonly at: number;
  readonly text: string;
}

/**
 * One tool file while it is being checked: its data with variables filled in, and the line of every field. Mistakes
 * are collected with `report`; readers of values are tolerant, because the shape is checked elsewhere.
 */
export class ToolSource {
  /** With variables filled in where a request is described. */
  readonly data: JsonObject;
  /** As written in the file; safe to repeat, since it holds no value of a variable. */
  readonly written: JsonObject;
  readonly variables: Variable[] = [];
  private readonly found = new Map<string, ToolFileProblem>();
  private readonly contents: YAMLMap;
  private readonly lines = new LineCounter();

  /** @throws ToolFileError when the text is not one YAML mapping. */
  constructor(
    readonly file: string,
    text: string,
    private readonly env: Environment,
  ) {
    const { contents, data } = readYaml(file, maskReferences(text), this.lines);
    this.contents = contents;
    this.written = this.transform(data, [], unmaskReferences) as JsonObject;
    this.data = this.transform(data, [], (value, path) => this.resolve(value, path)) as JsonObject;
  }

  get problems(): readonly ToolFileProblem[] {
    return [...this.found.values()].toSorted((a, b) => a.line - b.line);
  }

  /** Notes a mistake; of several in one field the first is kept, since the others usually follow from it. */
  report(path: Path, message: string): void {
    const field = path.join('.');
    if (!this.found.has(field)) this.found.set(field, { file: this.file, line: this.line(path), field, message });
  }

  value(...path: string[]): Json | undefined {
    return dig(this.data, path);
  }

  text(...path: string[]): string | null {
    const value = this.value(...path);
    return typeof value === 'string' ? value : null;
  }

  object(...path: string[]): JsonObject | null {
    const value = this.value(...path);
    return isObject(value) ? value : null;
  }

  /** Milliseconds of a duration field, written alone or with its basis; the default when it is left out. */
  duration(path: Path, fallback: string): number {
    const ms = parseDuration(this.text(...path) ?? this.text(...path, 'value') ?? fallback);
    if (ms === null) this.report(path, 'not a duration of ten years or less; must be like 2s, 500ms, 5m or PT24H');
    return ms ?? 0;
  }

  /** Line of a field, or of the nearest thing around it that is in the file. */
  line(path: Path): number {
    let node: unknown = this.contents;
    let offset = this.contents.range?.[0] ?? 0;
    for (const step of path) {
      if (isMap(node)) {
        const pair = node.items.find(({ key }) => isScalar(key) && unmaskReferences(String(key.value)) === step);
        if (!pair) break;
        if (isScalar(pair.key)) offset = pair.key.range?.[0] ?? offset;
        node = pair.value;
      } else if (isSeq(node)) {
        node = node.items[Number(step)];
        if (hasRange(node)) offset = node.range[0];
      } else break;
    }
    return this.lines.linePos(offset).line;
  }

  private transform(value: Json, path: Path, text: (value: string, path: Path) => string): Json {
    if (typeof value === 'string') return text(value, path);
    if (Array.isArray(value))
      return value.map((item: Json, index) => this.transform(item, [...path, `${index}`], text));
    if (!isObject(value)) {
      if (typeof value === 'number' && !Number.isFinite(value))
        this.report(path, `is ${value}; must be a number that JSON has`);
      return value;
    }
    return Object.fromEntries(
      Object.entries(value).map(([key, part]) => {
        const name = unmaskReferences(key);
        return [name, this.transform(part, [...path, name], text)];
      }),
    );
  }

  private resolve(value: string, path: Path): string {
    if (!describesRequest(path)) return unmaskReferences(value);
    const { text, values, missing } = fillIn(value, this.env);
    this.variables.push(...values.map((each) => ({ ...each, path, text })));
    const [name] = missing;
    if (name !== undefined)
      this.report(path, `the environment variable ${name} is not set; set it, or write \${${name}:-default}`);
    return unmaskReferences(text);
  }
}

/** Only there variables are filled in. */
function describesRequest([first, second, third]: Path): boolean {
  return first === 'upstream' || (first === 'approval' && second === 'preview' && third === 'request');
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value at a path, if there is one. */
export function dig(root: Json, path: Path): Json | undefined {
  let value: Json | undefined = root;
  for (const step of path) {
    if (Array.isArray(value)) value = (value as readonly Json[])[Number(step)];
    else if (isObject(value) && Object.hasOwn(value, step)) value = value[step];
    else return undefined;
  }
  return value;
}

function hasRange(node: unknown): node is { range: [number, number, number] } {
  return typeof node === 'object' && node !== null && 'range' in node && Array.isArray(node.range);
}
