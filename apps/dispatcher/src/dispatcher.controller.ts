import { durables, type HintMessage, OnHint, OnWork, type WorkMessage } from '@intendant/bus';
import { readIds, readRing, subjects } from '@intendant/contracts';
import { faultPoint } from '@intendant/runtime';
import { Controller } from '@nestjs/common';
import { Dispatcher } from './dispatcher.js';

@Controller()
export class DispatcherController {
  constructor(private readonly dispatcher: Dispatcher) {}

  /** The doorbell of an outbox message; acknowledged once the attempts that can start now are recorded. Junk is dropped. */
  @OnWork(durables.dispatch.subject, { ...durables.dispatch, concurrency: 16 })
  async ring(message: WorkMessage): Promise<void> {
    const ring = readRing(message.payload);
    if (ring) await this.dispatcher.takeLeft(ring);
    faultPoint('dispatcher.before_ack');
  }

  /** Rings before the durable doorbell does. */
  @OnHint(subjects.hintDispatch, { queue: true })
  async hint(hint: HintMessage): Promise<void> {
    const ring = readRing(hint.payload);
    if (ring) await this.dispatcher.take(ring);
  }

  /** Every replica hears of a cancel; the one that is sending aborts. */
  @OnHint(subjects.hintCancel)
  cancel({ payload }: HintMessage): Promise<void> {
    return this.dispatcher.abortCancelled(readIds(payload));
  }
}
