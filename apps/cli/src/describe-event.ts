import { printable } from './table.js';

/** An event as the gateway sends it. */
export interface EventEntry {
  readonly version: number;
  readonly at: string;
  readonly type: string;
  readonly [field: string]: unknown;
}

const typeWidth = 22;

/** One line of a timeline: when, what, and what is particular to it. */
export function describeEvent({ version: _, at, type, ...data }: EventEntry): string {
  return `${at}  ${type.padEnd(typeWidth)}${printable(details(type, data))}`.trimEnd();
}

function details(type: string, data: Readonly<Record<string, unknown>>): string {
  if (type === 'approval_requested') return asked(data);
  const { proposal, ...rest } = data;
  if (type !== 'recorded' || typeof proposal !== 'object' || proposal === null) return pairs(rest);
  const { tool, user, stepId, args, dropped } = proposal as Record<string, unknown>;
  const lost = Array.isArray(dropped) && dropped.length > 0 ? { dropped: dropped.map(pointerOf) } : {};
  return `${tool} ${JSON.stringify(args)} ${pairs({ user, step: stepId, ...lost })}`;
}

/** What people are asked, without all of the card: `approvals show` has that. */
function asked({ request, differs }: Readonly<Record<string, unknown>>): string {
  const { view, quorum, expiresAt, preview } = (request ?? {}) as Record<string, unknown>;
  const { kind } = (preview ?? {}) as { kind?: unknown };
  const until = typeof expiresAt === 'number' ? new Date(expiresAt).toISOString() : null;
  return `${view} ${pairs({ quorum, until, preview: kind, differs })}`;
}

function pairs(values: Readonly<Record<string, unknown>>): string {
  return Object.entries(values)
    .filter(([, value]) => value !== null && value !== undefined)
    .map(([name, value]) => `${name}=${show(name, value)}`)
    .join(' ');
}

function show(name: string, value: unknown): string {
  const isTime = typeof value === 'number' && /(At|Until|Before|^deadline)$/.test(name);
  if (isTime) return new Date(value).toISOString();
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function pointerOf(field: unknown): string {
  return String((field as { pointer?: unknown }).pointer);
}
