import { once } from 'node:events';
import { streams } from '@intendant/contracts';
import { startNats } from '@intendant/testing';
import { Controller, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { type AsyncMicroserviceOptions, EventPattern } from '@nestjs/microservices';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Bus } from './bus.js';
import { BusModule } from './bus.module.js';
import { NatsStrategy } from './nats-strategy.js';
import { gate, listener, responder, startService, worker } from './service.spec-helper.js';

describe('BusModule', () => {
  let nats: Awaited<ReturnType<typeof startNats>>;
  beforeEach(async () => {
    nats = await startNats();
  });
  afterEach(() => nats.stop());

  it('gives its connection to the strategy, and closes it after the handlers have finished', async () => {
    const hold = gate();
    const started = gate();
    const order: string[] = [];
    const work = { stream: streams.work, durable: 'spec', concurrency: 1, ackWaitMs: 30_000 };
    const controller = worker('intendant.work.spec', work, async () => {
      started.open();
      await hold.opened;
      order.push('handled');
    });
    @Module({ imports: [BusModule.forRoot({ url: nats.url, name: 'spec' })], controllers: [controller] })
    class AppModule {}
    const app = await NestFactory.createMicroservice<AsyncMicroserviceOptions>(AppModule, {
      useFactory: (bus: Bus) => ({ strategy: new NatsStrategy({ bus, service: 'spec' }) }),
      inject: [Bus],
      logger: false,
    });
    await app.listen();
    const bus = app.get(Bus);
    bus.onStatus((status) => order.push(status));
    await bus.publish([{ subject: 'intendant.work.spec', payload: '', msgId: 'a' }]);
    await started.opened;
    const closing = app.close();
    hold.open();
    await closing;
    expect(order).toEqual(['handled', 'closed']);
  });

  it('stops the process when the connection ends for good', async () => {
    const work = { stream: streams.work, durable: 'spec', concurrency: 1, ackWaitMs: 30_000 };
    const controllers = [
      worker('intendant.work.spec', work, () => {}),
      responder('intendant.rpc.spec', () => ({})),
      listener('intendant.hint.spec', {}, () => {}),
    ];
    @Module({ imports: [BusModule.forRoot({ url: nats.url, name: 'spec' })], controllers })
    class AppModule {}
    const app = await NestFactory.createMicroservice<AsyncMicroserviceOptions>(AppModule, {
      useFactory: (bus: Bus) => ({ strategy: new NatsStrategy({ bus, service: 'spec' }) }),
      inject: [Bus],
      logger: false,
    });
    await app.listen();
    // The signal is for this process; others who listen to it would end it.
    const others = process.rawListeners('SIGTERM') as NodeJS.SignalsListener[];
    process.removeAllListeners('SIGTERM');
    try {
      const signal = once(process, 'SIGTERM', { signal: AbortSignal.timeout(10_000) });
      await nats.stop();
      const stranger = await startNats({ port: nats.port, args: ['--user', 'me', '--pass', 'changed'] });
      await signal;
      expect(app.get(Bus).status()).toBe('closed');
      await app.close();
      await stranger.stop();
    } finally {
      for (const other of others) process.on('SIGTERM', other);
    }
  });

  it('leaves that to the application when it says what to do', async () => {
    const onClosed = vi.fn();
    @Module({ imports: [BusModule.forRoot({ url: nats.url, name: 'spec', onClosed })] })
    class AppModule {}
    const app = await NestFactory.createApplicationContext(AppModule, { logger: false });
    await app.get(Bus).connection.close();
    await vi.waitFor(() => expect(onClosed).toHaveBeenCalledOnce(), { interval: 10 });
    await app.close();
  });

  it('does not start with a handler that the strategy cannot serve', async () => {
    @Controller()
    class Wrong {
      @EventPattern<string>('some.event')
      run() {}
    }
    await expect(startService(nats.url, [Wrong])).rejects.toThrow(/some\.event: use @OnWork, @OnRequest or @OnHint/);
  });
});
