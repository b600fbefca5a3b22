import type { Logger } from '@intendant/runtime';
import { Store } from '@intendant/store';
import { loadTools, type ToolRegistry } from '@intendant/tools';
import { misfits, openUpstreams, Upstreams } from '@intendant/upstream';
import { type BeforeApplicationShutdown, type DynamicModule, Module } from '@nestjs/common';
import { Attempts } from './attempts.js';
import type { DispatcherConfig } from './config.js';
import { DispatcherController } from './dispatcher.controller.js';
import { Dispatcher } from './dispatcher.js';

/** Needs Store and Bus from the application around it. */
@Module({})
export class DispatcherModule implements BeforeApplicationShutdown {
  constructor(
    private readonly dispatcher: Dispatcher,
    private readonly upstream: Upstreams,
  ) {}

  static forRoot(config: Pick<DispatcherConfig, 'toolsDir' | 'upstream'>, logger: Logger): DynamicModule {
    return {
      module: DispatcherModule,
      controllers: [DispatcherController],
      providers: [
        {
          provide: 'dispatcher tools',
          useFactory: () => loadTools(config.toolsDir, process.env, (tool) => misfits(config.upstream, tool)),
        },
        {
          provide: Upstreams,
          inject: ['dispatcher tools'],
          useFactory: (tools: ToolRegistry) => openUpstreams(config.upstream, tools),
        },
        {
          provide: Dispatcher,
          inject: [Store, 'dispatcher tools', Upstreams],
          useFactory: (store: Store, tools: ToolRegistry, upstream: Upstreams) =>
            startingWith(store, new Dispatcher(new Attempts(store, tools, upstream, logger), tools, logger)),
        },
      ],
    };
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.dispatcher.stop();
    await this.upstream.close();
  }
}

/** Where the same process records intents, they are started as they are recorded. */
function startingWith(store: Store, dispatcher: Dispatcher): Dispatcher {
  store.door.startWith(dispatcher);
  return dispatcher;
}
