import { randomBytes } from 'node:crypto';
import type { ToolDefinition } from '@intendant/contracts';
import type { JsonObject } from '@intendant/intent';
import { type Environment, newId } from '@intendant/runtime';
import { createRegistry, type Promises } from '@intendant/tools';
import { type UpstreamAdapter, upstreamOf } from '@intendant/upstream';
import { argumentsOf } from './arguments.js';
import { Effect } from './effect.js';
import { type FaultProxy, startFaultProxy } from './fault-proxy.js';
import type { Surroundings } from './surroundings.js';
import { httpAddressOf, throughProxy } from './through-proxy.js';
import { obstacles, openWayOut } from './way-out.js';

export interface SubjectOptions {
  readonly tool: ToolDefinition;
  readonly promises: Promises;
  /** False: the real upstream, with real effects. */
  readonly sandbox: boolean;
  /** Arguments of the calls; `{{n}}` in any text becomes a number that no other effect has. */
  readonly args: JsonObject;
  /** How long a key is left alone before it comes back, in ms. */
  readonly holdMs: number;
  /** Where the credentials are, as for the services. */
  readonly env: Environment;
  /** Script that makes one call in a process of its own. */
  readonly worker: string;
}

/** A campaign that cannot begin: arguments that the tool itself would refuse, a credential that is not there. */
export class NothingToTest extends Error {
  override readonly name = 'NothingToTest';
}

/** The upstream under test: the tool behind a fault proxy, and everything that was done to it. */
export class Subject implements Surroundings {
  readonly effects: Effect[] = [];
  /** False once it is known that two effects of one request may have equal receipts: they prove nothing then. */
  receiptsTell = true;
  readonly #runId = `run_${newId()}`;
  /** Time in ms, so that two campaigns have no numbers in common. */
  #n = Date.now();

  private constructor(
    readonly options: SubjectOptions,
    /** With the proxy as its address. */
    readonly tool: ToolDefinition,
    /** Null where the upstream is not spoken to over HTTP. */
    readonly proxy: FaultProxy | null,
  ) {}

  /** @throws NothingToTest, ConfigError */
  static async start(options: SubjectOptions): Promise<Subject> {
    const { tool, sandbox } = options;
    const upstream = upstreamOf({ tool, sandbox });
    if (upstream === null) throw new NothingToTest(`${tool.name} has no sandbox`);
    const [obstacle] = await obstacles(tool, options.env);
    if (obstacle !== undefined) throw new NothingToTest(`${tool.file}: ${obstacle}`);
    const address = httpAddressOf(upstream);
    const proxy = address === null ? null : await startFaultProxy(address);
    const subject = new Subject(options, proxy ? throughProxy(tool, sandbox, proxy.origin) : tool, proxy);
    try {
      subject.#arguments();
    } catch (error) {
      await proxy?.close();
      throw error;
    }
    return subject;
  }

  get worker(): string {
    return this.options.worker;
  }

  get env(): Environment {
    return this.options.env;
  }

  get promises(): Promises {
    return this.options.promises;
  }

  /** The file says that a repeat under one key is no second effect. */
  get claimsKey(): boolean {
    return this.promises.guarantee === 'idempotency_key' || this.promises.guarantee === 'conditional_create';
  }

  /** The file says that an absence proves something. */
  get claimsLookup(): boolean {
    return this.tool.terms.lookup === 'authoritative';
  }

  /** How long something is waited for that should be there by then, in ms. */
  get patienceMs(): number {
    return this.tool.terms.settleMs + this.options.holdMs;
  }

  newEffect(): Effect {
    const effect = new Effect(this, {
      tool: this.tool,
      args: this.#arguments(),
      // As long as the keys of intents.
      key: randomBytes(32).toString('base64url'),
      tenant: 'certify',
      runId: this.#runId,
      sandbox: this.options.sandbox,
    });
    this.effects.push(effect);
    return effect;
  }

  open(): UpstreamAdapter {
    return openWayOut(this.tool, this.env);
  }

  async close(): Promise<void> {
    await Promise.all(this.effects.map((effect) => effect.close()));
    await this.proxy?.close();
  }

  #arguments(): JsonObject {
    const { tool, args: template } = this.options;
    this.#n += 1;
    const caller = { tenant: 'certify', user: 'certify', run: this.#runId };
    const given = argumentsOf({ ...tool, inject: {} }, template, this.#n, caller);
    const problems = createRegistry([tool]).check(tool, given);
    if (problems.length > 0) {
      const list = problems.map(({ pointer, expected, got }) => `${pointer || '/'}: expected ${expected}, got ${got}`);
      throw new NothingToTest(`The arguments do not fit the input schema of ${tool.name}: ${list.join('; ')}`);
    }
    return argumentsOf(tool, template, this.#n, caller);
  }
}
