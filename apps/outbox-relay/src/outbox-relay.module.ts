import { Bus } from '@intendant/bus';
import type { Logger } from '@intendant/runtime';
import { Store } from '@intendant/store';
import { type DynamicModule, Module, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { Relay } from './relay.js';

/** Needs Store and Bus from the application around it. */
@Module({})
export class OutboxRelayModule implements OnApplicationBootstrap, OnModuleDestroy {
  constructor(private readonly relay: Relay) {}

  static forRoot(logger: Logger): DynamicModule {
    return {
      module: OutboxRelayModule,
      providers: [
        { provide: Relay, inject: [Store, Bus], useFactory: (store: Store, bus: Bus) => new Relay(store, bus, logger) },
      ],
    };
  }

  onApplicationBootstrap(): void {
    this.relay.start();
  }

  onModuleDestroy(): Promise<void> {
    return this.relay.stop();
  }
}
