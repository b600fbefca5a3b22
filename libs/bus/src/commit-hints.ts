import { type Commit, doorbellSize, type Ring, subjects } from '@intendant/contracts';
import type { Bus } from './bus.js';

/** Hints at what a transaction changed: dispatchers and waiting callers look at once instead of polling. */
export function commitHints(bus: Bus): (commit: Commit) => void {
  return ({ dispatch, changed, cancel }) => {
    for (let i = 0; i < dispatch.length; i += doorbellSize) {
      const ring: Ring = { intents: dispatch.slice(i, i + doorbellSize) };
      bus.hint(subjects.hintDispatch, JSON.stringify(ring));
    }
    if (cancel.length > 0) bus.hint(subjects.hintCancel, JSON.stringify(cancel));
    if (changed.length > 0) bus.hint(subjects.hintChanged, JSON.stringify(changed));
  };
}
