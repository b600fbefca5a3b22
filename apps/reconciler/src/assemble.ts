import type { Logger } from '@intendant/runtime';
import type { Store } from '@intendant/store';
import type { ToolRegistry } from '@intendant/tools';
import type { UpstreamAdapter } from '@intendant/upstream';
import { AnnounceAgain } from './announce-again.js';
import { AskUpstream } from './ask-upstream.js';
import { Expire } from './expire.js';
import { Questions } from './questions.js';
import { Reconciler } from './reconciler.js';
import { RescueStuck } from './rescue-stuck.js';

/** The sweepers, one per state that an intent could be left in. */
export function assemble(store: Store, tools: ToolRegistry, upstream: UpstreamAdapter, logger: Logger): Reconciler {
  const questions = new Questions(tools, upstream);
  const sweepers = [
    new RescueStuck(store, logger),
    new Expire(store, logger),
    new AskUpstream('unknown', store, questions, logger),
    new AskUpstream('accepted', store, questions, logger),
    new AskUpstream('committed', store, questions, logger),
    new AnnounceAgain(store),
  ];
  return new Reconciler(sweepers, store, logger);
}
