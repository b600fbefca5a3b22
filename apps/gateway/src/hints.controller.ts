import { type HintMessage, OnHint } from '@intendant/bus';
import { readIds, subjects } from '@intendant/contracts';
import { Store } from '@intendant/store';
import { Controller } from '@nestjs/common';

/** Wakes the callers that wait for an outcome, and those that follow an intent or a run. */
@Controller()
export class HintsController {
  constructor(private readonly store: Store) {}

  @OnHint(subjects.hintChanged)
  changed({ payload }: HintMessage): void {
    const { outcomes, changes } = this.store;
    if (outcomes.isIdle && changes.isIdle) return;
    const ids = readIds(payload);
    outcomes.notify(ids);
    changes.notify(ids);
  }
}
