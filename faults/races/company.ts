import type { Store } from '@intendant/store';
import type { Dispatcher } from '../../apps/dispatcher/src/dispatcher.js';
import type { Relay } from '../../apps/outbox-relay/src/relay.js';
import type { Admission } from '../../apps/policy/src/admission.js';
import type { Sweeper } from '../../apps/reconciler/src/sweeper.js';
import type { Agents, Wish } from './agents.js';
import type { Bell, Bells } from './bells.js';
import { makeAdmission, makeDispatcher, makeRelay, makeSweepers, Replica, type Surroundings } from './replicas.js';
import type { StoreName } from './stage.js';

export interface Action {
  readonly who: string;
  readonly what: string;
  /** Begins it; what it awaits leads through the gates. */
  begin(): Promise<unknown>;
}

interface Circumstances {
  readonly stores: Readonly<Record<StoreName, Store>>;
  readonly agents: Agents;
  readonly wishes: readonly Wish[];
  readonly bells: Bells;
  readonly around: Surroundings;
}

/** Two of each service, and what each of them could begin. */
export class Company {
  private readonly policies: readonly Replica<Admission>[];
  private readonly dispatchers: readonly Replica<Dispatcher>[];
  private readonly reconcilers: readonly Replica<readonly Sweeper[]>[];
  private readonly relays: readonly Replica<Relay>[];
  /** What runs and must not run twice at once in the same process. */
  private readonly running = new Set<string>();

  constructor(private readonly on: Circumstances) {
    const { stores, around } = on;
    const replica = <T>(name: string, make: (life: Replica<T>['life']) => T) => new Replica(name, make, around.gates);
    this.policies = [
      replica('policy/0', makeAdmission(stores.policy, around)),
      replica('policy/1', makeAdmission(stores.standalone, around)),
    ];
    this.dispatchers = [
      replica('dispatcher/0', makeDispatcher(stores.standalone, around, true)),
      replica('dispatcher/1', makeDispatcher(stores.dispatcher, around, false)),
    ];
    this.reconcilers = [
      replica('reconciler/0', makeSweepers(stores['reconciler/0'], around)),
      replica('reconciler/1', makeSweepers(stores['reconciler/1'], around)),
    ];
    this.relays = [0, 1].map((i) => replica(`relay/${i}`, makeRelay(stores.relay, around)));
  }

  /** Resolves when it is done. @throws what the service throws */
  async begin({ who, what, begin }: Action): Promise<void> {
    const key = `${who} ${what}`;
    this.running.add(key);
    try {
      await begin();
    } finally {
      this.running.delete(key);
    }
  }

  /** Returns who was killed. */
  kill(which: number): string {
    const all = [...this.policies, ...this.dispatchers, ...this.reconcilers, ...this.relays];
    const victim = all[which % all.length] as Replica<unknown>;
    victim.kill();
    for (const key of this.running) if (key.startsWith(`${victim.name} `)) this.running.delete(key);
    return victim.name;
  }

  /** What could be begun now. */
  actions(): Action[] {
    const ringing = this.on.bells.list.filter(({ left }) => left > 0);
    return [
      ...this.on.wishes.flatMap((wish) => this.ofWish(wish)),
      ...this.dispatchers.flatMap((dispatcher) => this.rings(ringing, dispatcher)),
      ...this.passes(),
    ];
  }

  /** What has to be done once nothing is held back any more; one replica of each service is enough. */
  actionsOf(replica: number): Action[] {
    const ringing = this.on.bells.list.filter(({ done }) => !done);
    const dispatcher = this.dispatchers[replica] as Replica<Dispatcher>;
    return [
      ...this.on.wishes.flatMap((wish) => this.ofWish(wish)),
      ...this.rings(ringing, dispatcher),
      ...this.passes().filter(({ who }) => who.endsWith(`/${replica}`)),
    ];
  }

  private ofWish(wish: Wish): Action[] {
    const actions: Action[] = [];
    const { planned, ref } = wish;
    if (wish.left > 0) {
      const policy = this.policies[wish.left % this.policies.length] as Replica<Admission>;
      const begin = async () => {
        const other = planned.conflict && wish.left === 1 && wish.intentId !== null;
        wish.left -= 1;
        await this.on.agents.submit(wish, policy.made, other);
      };
      actions.push({ who: policy.name, what: `gets ${ref}, ${wish.left} left`, begin });
    }
    if (wish.intentId === null) return actions;
    for (const operation of ['cancel', 'replay'] as const) {
      if (!planned[operation === 'cancel' ? 'cancelled' : 'replayed'] || wish.did.has(operation)) continue;
      const begin = () => {
        wish.did.add(operation);
        return this.on.agents.command(wish, operation, this.on.stores.policy, this.on.around.gates);
      };
      actions.push({ who: 'operator', what: `${operation} ${ref}`, begin });
    }
    return actions;
  }

  private rings(bells: readonly Bell[], dispatcher: Replica<Dispatcher>): Action[] {
    return bells.map((bell) => ({
      who: dispatcher.name,
      what: `hears ${bell.what} ${this.on.bells.list.indexOf(bell)}`,
      begin: () => this.hear(bell, dispatcher),
    }));
  }

  private async hear(bell: Bell, { made }: Replica<Dispatcher>): Promise<void> {
    bell.left -= 1;
    if (bell.what === 'cancel') return made.abortCancelled(bell.ids);
    await (bell.what === 'hint' ? made.take(bell.ring) : made.takeLeft(bell.ring));
    bell.done = true;
  }

  private passes(): Action[] {
    const sweeps = this.reconcilers.flatMap(({ name, made }) =>
      made.map((sweeper) => ({ who: name, what: sweeper.name, begin: () => sweeper.runOnce(200) })),
    );
    const relays = this.relays.map(({ name, made }) => ({
      who: name,
      what: 'carries',
      begin: () => made.runOnce(500),
    }));
    const watches = this.dispatchers.map(({ name, made }) => ({
      who: name,
      what: 'looks for cancels',
      begin: () => made.abortCancelled(),
    }));
    return [...sweeps, ...relays, ...watches].filter(({ who, what }) => !this.running.has(`${who} ${what}`));
  }
}
