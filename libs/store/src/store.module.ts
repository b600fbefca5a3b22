import { faultPoint } from '@intendant/runtime';
import { type DynamicModule, type FactoryProvider, Module, type OnApplicationShutdown } from '@nestjs/common';
import type { ConnectionOptions } from './connection.js';
import type { DoorOptions } from './door.js';
import { Store } from './store.js';

/** Provides one {@link Store} to the whole application; closed last, when nothing uses it any more. */
@Module({})
export class StoreModule implements OnApplicationShutdown {
  constructor(private readonly store: Store) {}

  static forRootAsync(
    options: Pick<FactoryProvider<ConnectionOptions & DoorOptions>, 'inject' | 'useFactory'>,
  ): DynamicModule {
    const { inject = [], useFactory } = options;
    return {
      module: StoreModule,
      global: true,
      providers: [
        {
          provide: Store,
          inject,
          useFactory: async (...dependencies: unknown[]) => {
            const { committed, corrected, publish, lanes, maxBatch, ...connection } = await useFactory(...dependencies);
            return Store.open(connection, {
              ...(committed && { committed }),
              ...(corrected && { corrected }),
              ...(publish && { publish }),
              ...(lanes && { lanes }),
              ...(maxBatch && { maxBatch }),
            });
          },
        },
      ],
      exports: [Store],
    };
  }

  async onApplicationShutdown(): Promise<void> {
    faultPoint('shutdown.before_close');
    await this.store.close();
  }
}
