import { Bus } from '@intendant/bus';
import type { Logger } from '@intendant/runtime';
import { Store } from '@intendant/store';
import { Postman } from '@intendant/upstream';
import { type DynamicModule, Module, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { storedCards } from './cards.js';
import type { NotifierConfig } from './config.js';
import { Notifier } from './notifier.js';
import { type SlackAnswers, SlackAnswersController, slackAnswers } from './slack-answers.controller.js';
import { slackChannels } from './slack-channel.js';
import { webhook } from './webhook.js';

/** Needs Store and Bus from the application around it. */
@Module({})
export class NotifierModule implements OnApplicationBootstrap, OnModuleDestroy {
  constructor(
    private readonly notifier: Notifier,
    private readonly postman: Postman,
  ) {}

  static forRoot(
    { egress, publicUrl, webhooks, slack }: Pick<NotifierConfig, 'egress' | 'publicUrl' | 'webhooks' | 'slack'>,
    logger: Logger,
  ): DynamicModule {
    return {
      module: NotifierModule,
      controllers: [SlackAnswersController],
      providers: [
        { provide: slackAnswers, useValue: { apiUrl: slack?.apiUrl ?? null, logger } satisfies SlackAnswers },
        { provide: Postman, useFactory: () => new Postman(egress) },
        {
          provide: Notifier,
          inject: [Bus, Store, Postman],
          useFactory: (bus: Bus, store: Store, postman: Postman) => {
            const channels = [
              ...webhooks.map((setting) => webhook(setting, postman)),
              ...(slack === null ? [] : slackChannels(slack, storedCards(store), postman)),
            ];
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
