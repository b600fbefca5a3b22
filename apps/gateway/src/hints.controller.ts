import { type HintMessage, OnHint } from '@intendant/bus';
import { readIds, subjects } from '@intendant/contracts';
import { Store } from '@intendant/store';
import { Controller } from '@nestjs/common';

/** Wakes the callers that wait for an outcome. */
@Controller()
export class HintsController {
  constructor(private readonly store: Store) {}

  @OnHint(subjects.hintChanged)
  changed({ payload }: HintMessage): void {
    if (!this.store.outcomes.isIdle) this.store.outcomes.notify(readIds(payload));
  }
}
