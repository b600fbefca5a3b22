import { OnHint } from '@intendant/bus';
import { subjects } from '@intendant/contracts';
import { Controller } from '@nestjs/common';
import { Relay } from './relay.js';

@Controller()
export class RelayController {
  constructor(private readonly relay: Relay) {}

  @OnHint(subjects.hintOutbox)
  wake(): void {
    this.relay.wake();
  }
}
