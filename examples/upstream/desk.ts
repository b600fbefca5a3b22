import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { Behaviour } from './behaviour.js';
import { isObject, type JsonObject, parseJson } from './json.js';
import type { Ledger } from './ledger.js';
import type { EntryOf } from './ledger-entry.js';
import { Operations } from './operations.js';
import { previewOf, refundState, staleAnswer } from './refund-state.js';
import { findResource, type Resource, refunds } from './resources.js';
import { type Answer, problem, respond, sendJson } from './respond.js';
import type { RuleBook } from './rule-book.js';

type Request = EntryOf<'request'>;

const IN_PROGRESS = problem(409, 'in_progress', 'a request with this key is being processed');
const DUPLICATE = problem(409, 'duplicate', 'this was created before');
const KEY_REUSED = problem(422, 'key_reused', 'this key was used with another body');

/** Carries out requests, which are in the ledger already, and answers questions about them. */
export class Desk {
  /** Body hash of requests whose effect is still to come, by path and key. */
  readonly #pending = new Map<string, string>();
  /** Repeats that are still to be answered "in progress", by path and key. */
  readonly #busy = new Map<string, number>();
  /** How the first request of a key was answered, where every repeat is to be answered so, by path and key. */
  readonly #kept = new Map<string, { readonly answer: Answer; readonly behaviour: Behaviour }>();
  readonly #operations = new Operations();
  readonly #timers = new Set<NodeJS.Timeout>();

  constructor(
    private readonly ledger: Ledger,
    private readonly rules: RuleBook,
  ) {}

  /** Forgets which keys were ordered to look busy or to get a kept answer; effects that are on their way still come. */
  reset(): void {
    this.#busy.clear();
    this.#kept.clear();
  }

  close(): void {
    for (const timer of this.#timers) clearTimeout(timer);
  }

  create(line: Request, response: ServerResponse, body: Buffer, resource: Resource): void {
    const args = parseJson(body);
    const refusal = isObject(args) ? resource.refuse(args) : 'a JSON object is expected';
    if (!isObject(args) || refusal !== null) {
      sendJson(response, problem(400, 'invalid_body', String(refusal)));
      return;
    }

    const behaviour = this.rules.forRequest({ path: line.path, key: line.key, body: body.toString('utf8') });
    const honoured = resource.repeat !== 'new' && behaviour.honourKey !== false && line.key !== null;
    const kept = honoured ? this.#kept.get(`${line.path} ${line.key}`) : undefined;
    if (kept !== undefined) {
      this.#answer(response, kept.answer, kept.behaviour);
      return;
    }
    const earlier = honoured ? this.#earlier(line, resource, behaviour) : undefined;
    if (earlier === undefined) {
      const stale = resource.name === 'refund' ? this.#stale(response.req.headers, args) : null;
      if (stale !== null) {
        sendJson(response, stale);
        return;
      }
      const externalId = `${resource.prefix}_${line.seq}`;
      const answer = resource.answer(args, behaviour.constantReceipt ? `${resource.prefix}_same` : externalId);
      const operationId = `op_${line.seq}`;
      if (behaviour.then === 'accepted') this.#operations.queue(operationId, line.path, line.key);
      this.#carryOut(line, behaviour, () => {
        const failed = behaviour.operation?.end === 'failed';
        if (!failed && behaviour.commit !== false) this.#take(line, resource, externalId, answer, behaviour);
        else if (behaviour.operation === undefined) return;
        this.#operations.end(operationId, failed ? { state: 'failed' } : { state: 'done', result: answer });
      });
      if (behaviour.inProgress !== undefined) this.#busy.set(`${line.path} ${line.key}`, behaviour.inProgress);
      const first = { status: 201, body: answer, operationId };
      if (behaviour.keepAnswer) this.#kept.set(`${line.path} ${line.key}`, { answer: first, behaviour });
      this.#answer(response, first, behaviour);
    } else {
      const operationId = this.#operations.idOf(line.path, line.key);
      this.#answer(response, { ...earlier, ...(operationId !== undefined && { operationId }) }, behaviour);
    }
  }

  read(line: Request, response: ServerResponse, query: string, found: JsonObject): void {
    const behaviour = this.rules.forRequest({ path: line.path, key: line.key, body: query });
    this.#answer(response, { status: 200, body: found }, behaviour);
  }

  /** What a refund would change; it does not. */
  preview(line: Request, response: ServerResponse, query: URLSearchParams): void {
    const amount = Number(query.get('amount_cents'));
    const refusal = refunds.refuse({ order_id: query.get('order_id'), amount_cents: amount });
    if (refusal !== null) {
      sendJson(response, problem(400, 'invalid_query', refusal));
      return;
    }
    const behaviour = this.rules.forRequest({ path: line.path, key: line.key, body: `?${query}` });
    const state = refundState(this.ledger, query.get('order_id') ?? '');
    this.#answer(response, previewOf(state, amount), behaviour);
  }

  lookup(response: ServerResponse, path: string, key: string): void {
    const fault = this.rules.forLookup(path, key);
    if (fault === 'error' || fault === 'hang') {
      this.ledger.append({ kind: 'lookup', path, key, answer: fault });
      if (fault === 'error') sendJson(response, problem(500, 'ordered', 'ordered to fail'));
      return;
    }
    if (fault === 'anything') {
      this.ledger.append({ kind: 'lookup', path, key, answer: 'present' });
      sendJson(response, { status: 200, body: { data: [findResource(path)?.answer({}, 'found')] } });
      return;
    }
    const lagMs = fault === undefined ? 0 : Number(fault.slice('lag:'.length));
    const visible = this.ledger.effects(path, key).filter((effect) => this.ledger.ageOf(effect) >= lagMs);
    this.ledger.append({ kind: 'lookup', path, key, answer: visible.length > 0 ? 'present' : 'absent' });
    sendJson(response, { status: 200, body: { data: visible.map((effect) => effect.answer) } });
  }

  /** False when there is no such operation. */
  poll(response: ServerResponse, path: string): boolean {
    const found = this.#operations.find(path);
    if (found === undefined) return false;
    const { key, operation } = found;
    this.ledger.append({ kind: 'poll', path, key, answer: operation.state });
    sendJson(response, { status: 200, body: { ...operation } });
    return true;
  }

  /** A repeat is answered before: its own effect is what has changed the state. */
  #stale(headers: IncomingHttpHeaders, args: JsonObject): Answer | null {
    return staleAnswer(refundState(this.ledger, String(args['order_id'])), headers, args);
  }

  /** What a repeat is told; undefined when this is the first request under its key, or the first to get anywhere. */
  #earlier(
    { path, key, argsHash }: Request,
    { repeat }: Resource,
    { forgetKeyAfterMs = Infinity }: Behaviour,
  ): Answer | undefined {
    const name = `${path} ${key}`;
    const effects = this.ledger.effects(path, key ?? '');
    const effect = effects.find((each) => this.ledger.ageOf(each) < forgetKeyAfterMs);
    const firstHash = effect?.argsHash ?? this.#pending.get(name);
    if (firstHash !== undefined && firstHash !== argsHash) return KEY_REUSED;
    const busy = this.#busy.get(name) ?? 0;
    if (busy > 0) {
      this.#busy.set(name, busy - 1);
      return IN_PROGRESS;
    }
    if (effect !== undefined && repeat === 'refused') {
      return { ...DUPLICATE, body: { ...DUPLICATE.body, original: effect.answer } };
    }
    if (effect !== undefined) return { status: 201, body: effect.answer, headers: { 'idempotent-replayed': 'true' } };
    return this.#pending.has(name) ? IN_PROGRESS : undefined;
  }

  /** Does it now or at the ordered time; until then a repeat of the key is told "in progress". */
  #carryOut({ path, key, argsHash }: Request, behaviour: Behaviour, act: () => void): void {
    const afterMs = behaviour.operation?.afterMs ?? behaviour.commitAfterMs;
    if (afterMs === undefined) {
      act();
      return;
    }
    const name = `${path} ${key}`;
    if (key !== null) this.#pending.set(name, argsHash);
    this.#later(afterMs, () => {
      this.#pending.delete(name);
      act();
    });
  }

  #take(line: Request, resource: Resource, externalId: string, answer: JsonObject, { parts }: Behaviour): void {
    const { path, key, attemptId, argsHash } = line;
    const same = { kind: 'effect', path, key, attemptId, argsHash, resource: resource.name } as const;
    if (parts === undefined) this.ledger.append({ ...same, externalId, answer });
    for (let part = 1; part <= (parts?.done ?? 0); part += 1) {
      this.ledger.append({
        ...same,
        externalId: `${externalId}_${part}`,
        answer: { ...answer, part, parts: parts?.of },
      });
    }
  }

  #answer(response: ServerResponse, answer: Answer, behaviour: Behaviour): void {
    if (behaviour.delayMs === undefined) respond(response, answer, behaviour);
    else this.#later(behaviour.delayMs, () => respond(response, answer, behaviour));
  }

  #later(ms: number, act: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      act();
    }, ms);
    this.#timers.add(timer);
  }
}
