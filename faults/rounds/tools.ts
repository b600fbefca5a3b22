import type { Random } from './random.js';

/** A tool of faults/tools: `rig.<kind>`. */
export interface RigTool {
  readonly kind: string;
  /** Path of its upstream. */
  readonly path: string;
  readonly weight: number;
  readonly lookup: boolean;
}

/** The tools that rounds call, how often, and where their requests arrive. */
export const rigTools = [
  { kind: 'keyed', path: '/effects/keyed', weight: 22, lookup: true },
  { kind: 'keyonly', path: '/effects/keyonly', weight: 14, lookup: false },
  { kind: 'conditional', path: '/effects/conditional', weight: 12, lookup: true },
  { kind: 'searched', path: '/plain/searched', weight: 20, lookup: true },
  { kind: 'blind', path: '/plain/blind', weight: 8, lookup: false },
  { kind: 'accepted', path: '/effects/accepted', weight: 8, lookup: false },
  { kind: 'short', path: '/effects/short', weight: 6, lookup: false },
  { kind: 'read', path: '/orders/ord_1', weight: 6, lookup: false },
  { kind: 'parts', path: '/plain/parts', weight: 4, lookup: true },
  { kind: 'hinted', path: '/effects/hinted', weight: 8, lookup: true },
  { kind: 'missing', path: '', weight: 1, lookup: false },
  // Nobody agrees to anything in a round; the fault points have somebody who does.
  { kind: 'agreed', path: '/effects/agreed', weight: 0, lookup: true },
] as const satisfies readonly RigTool[];

export type ToolKind = (typeof rigTools)[number]['kind'];

export const toolName = (kind: ToolKind) => `rig.${kind}`;

export function pathOf(kind: ToolKind): string {
  return rigTools.find((tool) => tool.kind === kind)?.path ?? '';
}

export const toolKinds: readonly ToolKind[] = rigTools.filter(({ weight }) => weight > 0).map(({ kind }) => kind);

export function someTool(random: Random, among: readonly ToolKind[]): ToolKind {
  return random.weighted(rigTools.filter(({ kind }) => among.includes(kind))).kind;
}
