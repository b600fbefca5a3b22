import type { Bus } from '@intendant/bus';
import { ApprovalSeals } from '@intendant/credentials';
import { parsePolicyFiles } from '@intendant/rules';
import type { Logger } from '@intendant/runtime';
import type { Publish, Store } from '@intendant/store';
import { createRegistry } from '@intendant/tools';
import { Attempts } from '../../apps/dispatcher/src/attempts.js';
import { Dispatcher } from '../../apps/dispatcher/src/dispatcher.js';
import { Notices } from '../../apps/dispatcher/src/notices.js';
import { Relay } from '../../apps/outbox-relay/src/relay.js';
import { Admission } from '../../apps/policy/src/admission.js';
import { rulesOfFiles } from '../../apps/policy/src/rules-of-files.js';
import { AnnounceAgain } from '../../apps/reconciler/src/announce-again.js';
import { AskUpstream } from '../../apps/reconciler/src/ask-upstream.js';
import { Expire } from '../../apps/reconciler/src/expire.js';
import { Questions } from '../../apps/reconciler/src/questions.js';
import { RescueStuck } from '../../apps/reconciler/src/rescue-stuck.js';
import type { Sweeper } from '../../apps/reconciler/src/sweeper.js';
import { gatedPublish, gatedStore } from './gated-store.js';
import type { Gates, Life } from './gates.js';
import { tools } from './tools.js';
import type { Upstream } from './upstream.js';

export const registry = createRegistry(tools);
const rules = rulesOfFiles(parsePolicyFiles([], []));

/** What the replicas of one schedule are made with. */
export interface Surroundings {
  readonly gates: Gates;
  readonly upstream: Upstream;
  readonly logger: Logger;
  /** The bus takes them all. */
  readonly publish: Publish;
}

/** One replica, as often as it is made anew; `made` is what runs in its present life. */
export class Replica<T> {
  life: Life;
  made: T;

  constructor(
    readonly name: string,
    private readonly make: (life: Life) => T,
    private readonly gates: Gates,
  ) {
    this.life = { name, alive: true };
    this.made = make(this.life);
  }

  /** Whatever it was doing ends where it is, and a new one takes its place, which knows nothing. */
  kill(): void {
    this.gates.kill(this.life);
    this.life = { name: this.name, alive: true };
    this.made = this.make(this.life);
  }
}

const seals = new ApprovalSeals('approval-secret-of-the-races-0123456789');

export function makeAdmission(store: Store, { gates }: Surroundings) {
  return (life: Life) => new Admission(gatedStore(store, life, gates), registry, rules, seals);
}

/** `startsWith`: intents that are recorded by the same process are started as they are recorded. */
export function makeDispatcher(store: Store, around: Surroundings, startsWith: boolean) {
  return (life: Life) => {
    const { gates, upstream, logger } = around;
    const attempts = new Attempts(gatedStore(store, life, gates), registry, upstream.adapter(life), logger, {
      seals,
      policy: rules.version,
    });
    const dispatcher = new Dispatcher(attempts, registry, new Notices(registry, () => {}), logger);
    if (startsWith) store.door.startWith(dispatcher);
    return dispatcher;
  };
}

export function makeSweepers(store: Store, around: Surroundings) {
  return (life: Life): readonly Sweeper[] => {
    const { gates, upstream, logger } = around;
    const seen = gatedStore(store, life, gates);
    const questions = new Questions(registry, upstream.adapter(life));
    return [
      new RescueStuck(seen, logger),
      new Expire(seen, logger),
      new AskUpstream('unknown', seen, questions, logger),
      new AskUpstream('accepted', seen, questions, logger),
      new AskUpstream('committed', seen, questions, logger),
      new AnnounceAgain(seen),
    ];
  };
}

export function makeRelay(store: Store, { gates, logger, publish }: Surroundings) {
  return (life: Life) => {
    const carry = gatedPublish(publish, life, gates);
    const bus = {
      publish: async (messages: Parameters<Publish>[0]) => ({ published: [...(await carry(messages))], failed: [] }),
    };
    return new Relay(gatedStore(store, life, gates), bus as unknown as Bus, logger, 0);
  };
}
