import { faultPoint } from '@intendant/runtime';
import { type DynamicModule, Logger, Module, type OnApplicationShutdown, type OnModuleDestroy } from '@nestjs/common';
import { Bus } from './bus.js';
import { type BusOptions, connectBus } from './connect-bus.js';

/** Provides one {@link Bus} to the whole application: connected when it starts, drained when it stops. */
@Module({})
export class BusModule implements OnModuleDestroy, OnApplicationShutdown {
  constructor(private readonly bus: Bus) {}

  /** Unless `onClosed` says otherwise, a connection that ends for good stops the process: it could only idle on. */
  static forRoot(options: BusOptions): DynamicModule {
    return {
      module: BusModule,
      global: true,
      providers: [
        { provide: Bus, useFactory: () => connectBus({ ...options, onClosed: options.onClosed ?? stopProcess }) },
      ],
      exports: [Bus],
    };
  }

  /** Before anything that handlers use is taken down. */
  async onModuleDestroy(): Promise<void> {
    faultPoint('shutdown.before_quiesce');
    await this.bus.quiesce();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.bus.close();
  }
}

/** SIGTERM: what runs is finished, and a supervisor starts the process again. */
function stopProcess(error: Error | undefined): void {
  const reason = error ? `: ${error.message}` : '';
  new Logger(BusModule.name).error(`the connection to NATS ended for good${reason}; stopping, to be started again`);
  process.kill(process.pid, 'SIGTERM');
}
