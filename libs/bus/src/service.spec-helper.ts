import 'reflect-metadata';
import { Controller, Module, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { Bus } from './bus.js';
import { connectBus } from './connect-bus.js';
import { type HintOptions, OnHint, OnRequest, OnWork, type RequestHandling, type WorkOptions } from './decorators.js';
import type { HintMessage, RpcRequest, WorkMessage } from './messages.js';
import { NatsStrategy, type NatsStrategyOptions } from './nats-strategy.js';

export interface Service {
  readonly bus: Bus;
  readonly strategy: NatsStrategy;
  /** Stops as a service does on SIGTERM, and drains its connection. */
  close(): Promise<void>;
}

/** A Nest microservice with these controllers on a connection of its own. */
export async function startService(
  url: string,
  controllers: Type[],
  options: Partial<NatsStrategyOptions> = {},
): Promise<Service> {
  const bus = await connectBus({ url, name: 'spec' });
  const strategy = new NatsStrategy({ bus, service: 'spec', ...options });
  @Module({ controllers })
  class ServiceModule {}
  const app = await NestFactory.createMicroservice(ServiceModule, { strategy, logger: false });
  await app.listen();
  const close = async () => {
    await app.close();
    await bus.close();
  };
  return { bus, strategy, close };
}

export function worker(subject: string, options: WorkOptions, handle: (message: WorkMessage) => unknown): Type {
  @Controller()
  class Worker {
    @OnWork(subject, options)
    run(message: WorkMessage) {
      return handle(message);
    }
  }
  return Worker;
}

export function responder(
  subject: string,
  handle: (request: RpcRequest) => unknown,
  options: RequestHandling = {},
): Type {
  @Controller()
  class Responder {
    @OnRequest(subject, options)
    run(request: RpcRequest) {
      return handle(request);
    }
  }
  return Responder;
}

export function listener(subject: string, options: HintOptions, handle: (hint: HintMessage) => unknown): Type {
  @Controller()
  class Listener {
    @OnHint(subject, options)
    run(hint: HintMessage) {
      return handle(hint);
    }
  }
  return Listener;
}

export function text(payload: Uint8Array): string {
  return new TextDecoder().decode(payload);
}

/** A promise to be settled by the test. */
export function gate(): { readonly opened: Promise<void>; open(): void } {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
}
