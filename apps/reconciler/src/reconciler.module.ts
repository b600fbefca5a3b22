import type { Logger } from '@intendant/runtime';
import { Store } from '@intendant/store';
import { loadTools, type ToolRegistry } from '@intendant/tools';
import { misfits, openUpstreams, type Upstreams } from '@intendant/upstream';
import { type DynamicModule, Inject, Module, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { assemble } from './assemble.js';
import type { ReconcilerConfig } from './config.js';
import { ReconcilerController, reconcilerOperators } from './reconciler.controller.js';
import { Reconciler } from './reconciler.js';

const reconcilerTools = Symbol('tools of the reconciler');
const lookups = Symbol('upstream of the reconciler');

/** Needs Store and Bus from the application around it. */
@Module({})
export class ReconcilerModule implements OnApplicationBootstrap, OnModuleDestroy {
  constructor(
    private readonly reconciler: Reconciler,
    @Inject(lookups) private readonly upstream: Upstreams,
  ) {}

  static forRoot(config: Pick<ReconcilerConfig, 'toolsDir' | 'operators' | 'upstream'>, logger: Logger): DynamicModule {
    return {
      module: ReconcilerModule,
      controllers: [ReconcilerController],
      providers: [
        {
          provide: reconcilerTools,
          useFactory: () => loadTools(config.toolsDir, process.env, (tool) => misfits(config.upstream, tool)),
        },
        { provide: reconcilerOperators, useValue: config.operators },
        {
          provide: lookups,
          inject: [reconcilerTools],
          useFactory: (tools: ToolRegistry) => openUpstreams(config.upstream, tools),
        },
        {
          provide: Reconciler,
          inject: [Store, reconcilerTools, lookups],
          useFactory: (store: Store, tools: ToolRegistry, upstream: Upstreams) =>
            assemble(store, tools, upstream, logger),
        },
      ],
    };
  }

  onApplicationBootstrap(): void {
    this.reconciler.start();
  }

  async onModuleDestroy(): Promise<void> {
    await this.reconciler.stop();
    await this.upstream.close();
  }
}
