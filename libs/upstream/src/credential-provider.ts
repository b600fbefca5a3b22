import { monotonic } from '@intendant/runtime';
import type { LookupRequest } from './adapter.js';
import { type Credential, CredentialUnavailable } from './credential.js';
import type { CredentialRules, OAuthClient } from './credential-rules.js';
import { requestToken } from './credential-token.js';
import type { Egress } from './egress.js';
import { Pools } from './pools.js';

/** The credentials of a process as they are now; asked for every call, so that a secret can be changed under it. */
export type CredentialSource = () => CredentialRules;

/** Runs whose tokens are kept; the one that was used longest ago goes first. */
const mostRuns = 10_000;
/** Earlier tokens that are remembered so that they can be redacted. */
const mostFormer = 4;
/** Before its end a token is renewed by this much, or by a quarter of its life where that is shorter, in ms. */
const marginMs = 60_000;

interface Kept {
  readonly token: string;
  readonly former: readonly string[];
  /** On the monotonic clock. */
  freshUntil: number;
}

/** Gives calls their credential by name. OAuth tokens belong to one run and are kept as long as they live. */
export class CredentialProvider {
  readonly #pools: Pools;
  readonly #kept = new Map<string, Kept>();
  readonly #underWay = new Map<string, Promise<Kept>>();

  constructor(
    private readonly source: CredentialSource,
    egress: Egress,
    private readonly now: () => number = monotonic,
  ) {
    this.#pools = new Pools(egress);
  }

  /**
   * @throws CredentialUnavailable when there is none of that name, or its token cannot be had; nothing is repeated
   * @throws EgressRefused when the token endpoint must not be called
   */
  async get(
    name: string,
    { tenant, runId }: Pick<LookupRequest, 'tenant' | 'runId'>,
    signal?: AbortSignal,
  ): Promise<Credential> {
    const rule = this.source().get(name);
    if (rule === undefined) throw new CredentialUnavailable(`there is no credential ${name}`);
    if (rule.kind === 'fixed') return rule;
    const id = [name, tenant, runId].join('\n');
    const kept = await orAborted(this.#token(id, rule.client), signal);
    return {
      header: { name: 'Authorization', value: `Bearer ${kept.token}` },
      secret: kept.token,
      former: kept.former,
      refused: () => {
        kept.freshUntil = 0;
      },
    };
  }

  async close(): Promise<void> {
    await this.#pools.close();
  }

  #token(id: string, client: OAuthClient): Promise<Kept> {
    const kept = this.#kept.get(id);
    if (kept !== undefined && this.now() < kept.freshUntil) {
      this.#keep(id, kept);
      return Promise.resolve(kept);
    }
    const underWay = this.#underWay.get(id);
    if (underWay !== undefined) return underWay;
    const renewed = this.#renew(id, client, kept).finally(() => this.#underWay.delete(id));
    this.#underWay.set(id, renewed);
    return renewed;
  }

  async #renew(id: string, client: OAuthClient, last: Kept | undefined): Promise<Kept> {
    const asked = this.now();
    const { token, lifetimeMs } = await requestToken(this.#pools, client);
    const former = last === undefined ? [] : [last.token, ...last.former].slice(0, mostFormer);
    const kept = { token, former, freshUntil: asked + lifetimeMs - Math.min(marginMs, lifetimeMs / 4) };
    this.#keep(id, kept);
    return kept;
  }

  /** As the one used last; a map keeps the order in which its keys came. */
  #keep(id: string, kept: Kept): void {
    this.#kept.delete(id);
    this.#kept.set(id, kept);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > mostRuns && oldest !== undefined) this.#kept.delete(oldest);
  }
}

/** Others may wait for the same token, so it is only the waiting that ends. */
function orAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  return new Promise((resolve, reject) => {
    const abort = () => reject(new CredentialUnavailable('given up while waiting for a token'));
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
