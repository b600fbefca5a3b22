import type { PublishedEvent } from '../history/bus.js';
import type { ClientEntry } from '../history/clients.js';
import type { EventRow, IntentRow } from '../history/database.js';
import type { History, ToolPromise } from '../history/history.js';
import type { LedgerEntry } from '../history/ledger.js';
import { type Log, type LoggedAttempt, readLog } from './log.js';

export type RequestLine = Extract<LedgerEntry, { kind: 'request' }>;
export type EffectLine = Extract<LedgerEntry, { kind: 'effect' }>;
export type QuestionLine = Extract<LedgerEntry, { kind: 'lookup' | 'poll' }>;

/** Everything that a history has about one intent. */
export interface Story {
  readonly id: string;
  /** Null: there are events of it, and no row. */
  readonly row: IntentRow | null;
  readonly events: readonly EventRow[];
  readonly log: Log;
  /** What the rig calls it, from its recorded arguments or from an answer. */
  readonly ref: string | null;
  /** Null where the round promises nothing about its tool. */
  readonly tool: ToolPromise | null;
  readonly clients: readonly ClientEntry[];
  readonly requests: readonly RequestLine[];
  readonly effects: readonly EffectLine[];
  readonly questions: readonly QuestionLine[];
  /** When each attempt left its sender, by attempt id; those that nobody saw leave are not in it. */
  readonly sentAt: ReadonlyMap<string, number>;
  readonly published: readonly PublishedEvent[];
  /** Its upstream was told to act, or to show it, later than its tool file says, and did; or a request was on its way so long. */
  readonly beyondLimits: boolean;
}

export interface Stories {
  readonly all: readonly Story[];
  /** The intent a submit is about, by what the client knows of it; undefined when there is none. */
  of(entry: ClientEntry): Story | undefined;
  /** The intent whose attempt or key a ledger line names. */
  behind(line: LedgerEntry): Story | undefined;
  attempt(attemptId: string): { readonly story: Story; readonly attempt: LoggedAttempt } | undefined;
  /** Ledger lines and published events that belong to no intent. */
  readonly strayLines: readonly LedgerEntry[];
  readonly strayPublished: readonly PublishedEvent[];
}

type Building = { -readonly [K in keyof Story]: Story[K] extends readonly (infer E)[] ? E[] : Story[K] };

/** Puts together, once, what belongs together. */
export function readStories(history: History): Stories {
  const stories = new Map<string, Building>();
  const sentAt = new Map((history.sent ?? []).map((entry) => [entry.attemptId, entry.at]));
  const rows = new Map(history.database.intents.map((row) => [row.id, row]));
  for (const [id, events] of logsOf(history.database.events, rows.keys())) {
    stories.set(id, begin(id, rows.get(id) ?? null, events, history, sentAt));
  }
  const all = [...stories.values()];

  const byKey = new Map(all.flatMap((story) => (story.row ? [[story.row.key, story]] : [])));
  const attempts = new Map(
    all.flatMap((story) => story.log.attempts.map((attempt) => [attempt.attemptId, { story, attempt }] as const)),
  );
  const behind = (line: LedgerEntry) => {
    const attemptId = 'attemptId' in line ? line.attemptId : null;
    return attempts.get(attemptId ?? '')?.story ?? byKey.get(line.key ?? '');
  };
  const strayLines: LedgerEntry[] = [];
  for (const line of history.ledger) {
    const story = behind(line) as Building | undefined;
    if (!story) strayLines.push(line);
    else if (line.kind === 'request') story.requests.push(line);
    else if (line.kind === 'effect') story.effects.push(line);
    else story.questions.push(line);
  }

  const of = finder(all, history.clients);
  for (const entry of history.clients) of(entry)?.clients.push(entry);
  for (const story of all) {
    story.ref ??= story.clients.find(({ answer }) => answer?.intentId === story.id)?.ref ?? null;
    story.beyondLimits = story.ref !== null && history.meta.excuses.beyondLimits.includes(story.ref) && isLate(story);
    story.beyondLimits ||= isHeldUp(story);
  }

  const strayPublished: PublishedEvent[] = [];
  for (const event of history.bus.published) (stories.get(event.intentId)?.published ?? strayPublished).push(event);

  return { all, of, behind, attempt: (id) => attempts.get(id), strayLines, strayPublished };
}

/** An effect came, or was shown, later than the tool's upstream declares: it has broken what everything rests on. */
function isLate({ effects, requests, questions, tool }: Building): boolean {
  if (tool === null) return false;
  return effects.some(({ attemptId, at }) => {
    const request = requests.find((line) => line.attemptId === attemptId);
    if (request !== undefined && at - request.at > tool.settleMs) return true;
    return questions.some(({ answer, at: asked }) => answer === 'absent' && asked > at + tool.settleMs);
  });
}

/** A request arrived later after it was sent than its tool allows for: the network broke what everything rests on. */
function isHeldUp({ requests, sentAt, tool }: Building): boolean {
  return requests.some(({ attemptId, at }) => {
    const left = sentAt.get(attemptId ?? '');
    return left !== undefined && tool !== null && at - left > tool.settleMs;
  });
}

function logsOf(events: readonly EventRow[], ids: Iterable<string>): Map<string, EventRow[]> {
  const logs = new Map<string, EventRow[]>([...ids].map((id) => [id, []]));
  for (const event of events) {
    const log = logs.get(event.intentId);
    if (log) log.push(event);
    else logs.set(event.intentId, [event]);
  }
  for (const log of logs.values()) log.sort((a, b) => a.version - b.version);
  return logs;
}

function begin(
  id: string,
  row: IntentRow | null,
  events: readonly EventRow[],
  { meta }: History,
  sentAt: ReadonlyMap<string, number>,
): Building {
  return {
    id,
    row,
    events: [...events],
    log: readLog(events),
    ref: refOf(events[0]),
    tool: meta.tools[row?.tool ?? ''] ?? null,
    clients: [],
    requests: [],
    effects: [],
    questions: [],
    sentAt,
    published: [],
    beyondLimits: false,
  };
}

/** The arguments of a round's calls carry the name that the rig has for them. */
function refOf(recorded: EventRow | undefined): string | null {
  const proposal = recorded?.data['proposal'] as { args?: { ref?: unknown } } | undefined;
  return typeof proposal?.args?.ref === 'string' ? proposal.args.ref : null;
}

/** An answer names the intent; without one it is found by its step, and without a step by the rig's own name for it. */
function finder(
  all: readonly Building[],
  clients: readonly ClientEntry[],
): (entry: ClientEntry) => Building | undefined {
  const byId = new Map(all.map((story) => [story.id, story]));
  const byName = new Map<string, Building>();
  for (const story of all) {
    const { row, ref } = story;
    if (!row) continue;
    if (row.stepId !== null) byName.set(`step ${row.runId} ${row.stepId} ${row.tool}`, story);
    else if (ref !== null) byName.set(`ref ${row.runId} ${ref} ${row.tool}`, story);
  }
  const answered = new Map<string, string>();
  for (const { requestId, answer } of clients) if (answer?.intentId) answered.set(requestId, answer.intentId);
  return ({ requestId, runId, stepId, ref, tool }) =>
    byId.get(answered.get(requestId) ?? '') ??
    byName.get(stepId === null ? `ref ${runId} ${ref} ${tool}` : `step ${runId} ${stepId} ${tool}`);
}
