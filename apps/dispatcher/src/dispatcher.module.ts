import { Bus } from '@intendant/bus';
import { ApprovalSeals } from '@intendant/credentials';
import { type Logger, Loop } from '@intendant/runtime';
import { Store } from '@intendant/store';
import { loadTools, readPolicyVersion, type ToolRegistry } from '@intendant/tools';
import { misfits, openUpstreams, Upstreams } from '@intendant/upstream';
import {
  type BeforeApplicationShutdown,
  type DynamicModule,
  Inject,
  Module,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { type ApprovalChecks, Attempts } from './attempts.js';
import type { DispatcherConfig } from './config.js';
import { DispatcherController } from './dispatcher.controller.js';
import { cancelCheckMs, Dispatcher } from './dispatcher.js';
import { Notices } from './notices.js';

const cancelWatch = Symbol('watch for cancelled attempts');

/** Needs Store and Bus from the application around it. */
@Module({})
export class DispatcherModule implements OnApplicationBootstrap, BeforeApplicationShutdown {
  constructor(
    private readonly dispatcher: Dispatcher,
    private readonly upstream: Upstreams,
    @Inject(cancelWatch) private readonly cancels: Loop,
  ) {}

  static forRoot(
    config: Pick<
      DispatcherConfig,
      'toolsDir' | 'policyDir' | 'upstream' | 'approvalSecret' | 'previousApprovalSecrets'
    >,
    logger: Logger,
  ): DynamicModule {
    const seals = new ApprovalSeals(config.approvalSecret, config.previousApprovalSecrets);
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
          provide: 'approval checks',
          useFactory: async (): Promise<ApprovalChecks> => ({
            seals,
            policy: await readPolicyVersion(config.policyDir),
          }),
        },
        {
          provide: Dispatcher,
          inject: [Store, Bus, 'dispatcher tools', Upstreams, 'approval checks'],
          useFactory: (store: Store, bus: Bus, tools: ToolRegistry, upstream: Upstreams, checks: ApprovalChecks) => {
            const attempts = new Attempts(store, tools, upstream, logger, checks);
            const notices = new Notices(tools, (message) => void bus.publish([message]));
            return startingWith(store, new Dispatcher(attempts, tools, notices, logger));
          },
        },
        {
          provide: cancelWatch,
          inject: [Dispatcher],
          useFactory: (dispatcher: Dispatcher) => watchCancels(dispatcher, logger),
        },
      ],
    };
  }

  onApplicationBootstrap(): void {
    this.cancels.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.dispatcher.stop();
    await this.cancels.stop();
    await this.upstream.close();
  }
}

/** Where the same process records intents, they are started as they are recorded. */
function startingWith(store: Store, dispatcher: Dispatcher): Dispatcher {
  store.door.startWith(dispatcher);
  return dispatcher;
}

function watchCancels(dispatcher: Dispatcher, logger: Logger): Loop {
  const runOnce = async () => {
    await dispatcher.abortCancelled();
    return 0;
  };
  return new Loop({ name: 'watch-cancels', idleMs: cancelCheckMs, logger, runOnce });
}
