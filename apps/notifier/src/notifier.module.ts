import { Bus } from '@intendant/bus';
import type { Logger } from '@intendant/runtime';
import { Postman } from '@intendant/upstream';
import { type DynamicModule, Module, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import type { NotifierConfig } from './config.js';
import { Notifier } from './notifier.js';
import { webhook } from './webhook.js';

/** Needs Bus from the application around it. */
@Module({})
export class NotifierModule implements OnApplicationBootstrap, OnModuleDestroy {
  constructor(
    private readonly notifier: Notifier,
    private readonly postman: Postman,
  ) {}

  static forRoot(
    { egress, publicUrl, webhooks }: Pick<NotifierConfig, 'egress' | 'publicUrl' | 'webhooks'>,
    logger: Logger,
  ): DynamicModule {
    return {
      module: NotifierModule,
      providers: [
        { provide: Postman, useFactory: () => new Postman(egress) },
        {
          provide: Notifier,
          inject: [Bus, Postman],
          useFactory: (bus: Bus, postman: Postman) => {
            const channels = webhooks.map((setting) => webhook(setting, postman));
            return new Notifier(bus, channels, logger, { publicUrl });
          },
        },
      ],
    };
  }

  onApplicationBootstrap(): Promise<void> {
    return this.notifier.start();
  }

  async onModuleDestroy(): Promise<void> {
    await this.notifier.stop();
    await this.postman.close();
  }
}
