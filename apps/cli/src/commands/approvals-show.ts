import { spelledOut } from '@intendant/contracts';
import type { Command } from 'commander';
import { call } from '../client.js';
import { type Flags, Settings } from '../config.js';
import type { Context } from '../context.js';
import { printable } from '../table.js';

interface Card {
  readonly id: string;
  readonly status: string;
  readonly tool: string;
  readonly toolVersion: number;
  readonly effect: string;
  readonly sandbox: boolean;
  readonly requester: string;
  readonly runId: string;
  readonly view: string;
  readonly digest: string;
  readonly why: readonly { readonly rule: string; readonly message: string }[];
  readonly differs: readonly string[];
  readonly args: unknown;
  readonly injected: unknown;
  readonly impact: string | null;
  readonly reversible: boolean | null;
  readonly undo: string | null;
  readonly preview:
    | { readonly kind: 'asked' }
    | { readonly kind: 'failed'; readonly detail: string; readonly needed: boolean }
    | { readonly kind: 'shown'; readonly before: unknown; readonly after: unknown; readonly kept: keyof typeof kept }
    | null;
  readonly quorum: number;
  readonly given: readonly { readonly by: string; readonly at: string }[];
  readonly earlier: readonly { readonly by: string; readonly at: string }[];
  readonly cost: number;
  readonly taintedBy: string | null;
  readonly alike: {
    readonly id: string;
    readonly status: string;
    readonly recordedAt: string;
    readonly args: unknown;
  } | null;
  readonly run: {
    readonly phase: string | null;
    readonly openedBy: string;
    readonly closed: boolean;
    readonly left: Readonly<Record<string, number | null>>;
    readonly history: readonly { readonly intentId: string; readonly tool: string; readonly status: string }[];
  } | null;
  readonly expiresAt: string;
  readonly actions: readonly { readonly action: string; readonly possible: boolean; readonly reason: string | null }[];
}

/** What keeps a preview true until the call is sent. */
const kept = {
  by_upstream: 'the upstream refuses the call if this has changed meanwhile',
  read_again:
    'it is read again just before the call, which is not sent if this has changed; it may still change in between',
  not_kept: 'it may have changed by the time the call is sent',
} as const;

const shownHistory = 5;

export function addApprovalsShow(parent: Command, context: Context): void {
  parent
    .command('show')
    .description('everything that is needed to decide')
    .argument('<intent>', 'id of the intent')
    .option('--json', 'print JSON')
    .action(async (id: string, _: unknown, command: Command) => {
      const options = command.optsWithGlobals<Flags & { json?: boolean }>();
      const settings = new Settings(context, options);
      const card = await call<Card>(settings, settings.operatorKey, 'GET', `/v1/approvals/${encodeURIComponent(id)}`);
      if (options.json) return context.out(JSON.stringify(card));
      for (const [title, value] of linesOf(card)) context.out(`${title.padEnd(9)} ${spelledOut(printable(value))}`);
      context.out('');
      for (const { action, possible, reason } of card.actions) {
        context.out(
          `${action.padEnd(9)} ${possible ? 'possible' : `not possible: ${spelledOut(printable(String(reason)))}`}`,
        );
      }
    });
}

function linesOf(card: Card): [string, string][] {
  const { tool, toolVersion, effect, sandbox, given, quorum, cost, run } = card;
  return [
    ['action', card.view],
    ['intent', `${card.id}, ${card.status}`],
    ['tool', `${tool} version ${toolVersion}, ${effect}${sandbox ? ', in the sandbox' : ''}`],
    ['for', `${card.requester}, in ${card.runId}`],
    ...card.why.map(({ rule, message }): [string, string] => ['why', `${message} (${rule})`]),
    ...card.differs.map((what): [string, string] => ['changed', `${what}, since it was asked about before`]),
    ['arguments', JSON.stringify(card.args)],
    ['added', JSON.stringify(card.injected)],
    ...line('impact', card.impact),
    ['undo', undoing(card)],
    ...(cost > 0 ? line('cost', String(cost)) : []),
    ...previewOf(card),
    ...line('taint', card.taintedBy && `the run had read text from outside (intent ${card.taintedBy})`),
    ...line(
      'alike',
      card.alike &&
        `intent ${card.alike.id}, ${card.alike.status}, of ${card.alike.recordedAt}: ${JSON.stringify(card.alike.args)}`,
    ),
    ...(run ? runOf(run) : []),
    ['given', `${given.length} of ${quorum}${given.map(({ by, at }) => `, ${by} at ${at}`).join('')}`],
    ...card.earlier.map(({ by, at }): [string, string] => [
      'earlier',
      `${by} agreed to it as it was before, at ${at}; that stands for what it was`,
    ]),
    ['expires', card.expiresAt],
    ['digest', card.digest],
  ];
}

function undoing({ reversible, undo }: Card): string {
  const can =
    reversible === null
      ? 'nobody has said whether it can be undone'
      : reversible
        ? 'it can be undone'
        : 'it cannot be undone';
  return undo === null ? can : `${can}: ${undo}`;
}

function previewOf({ preview }: Card): [string, string][] {
  switch (preview?.kind) {
    case undefined:
      return [];
    case 'asked':
      return [['preview', 'not there yet; nobody can agree before']];
    case 'failed':
      return [
        [
          'preview',
          `there is none: ${preview.detail}${preview.needed ? '; it is asked for again, and nobody can agree before it is there' : ''}`,
        ],
      ];
    case 'shown':
      return [
        ['before', JSON.stringify(preview.before)],
        ['after', JSON.stringify(preview.after)],
        ['preview', kept[preview.kept]],
      ];
  }
}

function runOf({ phase, openedBy, closed, left, history }: NonNullable<Card['run']>): [string, string][] {
  const budgets = Object.entries(left).flatMap(([name, value]) => (value === null ? [] : [`${name} ${value}`]));
  const shown = history.slice(0, shownHistory).map(({ tool, status, intentId }) => `${tool} ${status} (${intentId})`);
  return [
    ['run', `opened by ${openedBy}${phase === null ? '' : `, phase ${phase}`}${closed ? ', closed' : ''}`],
    ...line('left', budgets.length > 0 ? budgets.join(', ') : null),
    ...shown.map((each): [string, string] => ['before it', each]),
  ];
}

function line(title: string, value: string | null): [string, string][] {
  return value === null ? [] : [[title, value]];
}
