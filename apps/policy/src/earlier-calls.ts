import type { Session } from '@intendant/contracts';
import type { Intent } from '@intendant/intent';
import type { Store } from '@intendant/store';
import {
  dropTrustedFields,
  fingerprint,
  intentKey,
  repeatedKey,
  type ToolIntentMessage,
  type ToolRegistry,
} from '@intendant/tools';
import { mayBeMadeAgain } from './made-again.js';

/** The newest intent of a call that was recorded before. */
export interface EarlierCall {
  readonly intent: Intent;
  /** The same call is a new one now; otherwise it is answered from this intent. */
  readonly isOver: boolean;
  /** How often it was made. */
  readonly times: number;
}

/** What was recorded of a call before (docs/decisions/0028). */
export class EarlierCalls {
  constructor(
    private readonly store: Store,
    private readonly tools: ToolRegistry,
  ) {}

  /** By the call alone, whatever its tool has become since; null where nothing was recorded. */
  async find(session: Session, message: ToolIntentMessage, answered: boolean): Promise<EarlierCall | null> {
    const without = (injected: object) => dropTrustedFields(message.args, Object.keys(injected)).args;
    const key = intentKey(session, message, without(this.tools.get(message.tool)?.inject ?? {}));
    const first = await this.store.intents.findByKey(key);
    // What was the runtime's to say then may be the model's now, and the other way round.
    const isSame = first && fingerprint(without(first.proposal.injected)) === first.proposal.fingerprint;
    return isSame ? this.newestAfter(first, answered) : null;
  }

  /**
   * The newest call that is the same as `first`. A step is one call for ever; so is what nobody is `answered`: a published
   * message may be delivered again.
   */
  async newestAfter(first: Intent, answered: boolean): Promise<EarlierCall> {
    const { key, stepId } = first.proposal;
    if (!answered || stepId !== null || !mayBeMadeAgain(first)) return { intent: first, isOver: false, times: 1 };
    const times = await this.store.intents.countSame(first.proposal);
    const last = times > 1 ? await this.store.intents.findByKey(repeatedKey(key, times - 1)) : null;
    const intent = last ?? first;
    return { intent, isOver: mayBeMadeAgain(intent), times };
  }
}
