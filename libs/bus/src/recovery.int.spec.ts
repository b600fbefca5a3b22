import { streams } from '@intendant/contracts';
import { startNats } from '@intendant/testing';
import { jetstreamManager } from '@nats-io/jetstream';
import { Logger } from '@nestjs/common';
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { connectBus } from './connect-bus.js';
import type { NatsStrategyOptions } from './nats-strategy.js';
import { gate, type Service, startService, text, worker } from './service.spec-helper.js';

describe('recovery', () => {
  let nats: Awaited<ReturnType<typeof startNats>>;
  let service: Service;
  let handled: Set<string>;
  const subject = 'intendant.work.spec';
  const work = { stream: streams.work, durable: 'spec', concurrency: 4, ackWaitMs: 30_000 };

  beforeAll(() => Logger.overrideLogger(false));
  beforeEach(async () => {
    handled = new Set();
    nats = await startNats();
  });
  afterEach(async () => {
    await service.close();
    await nats.stop();
  });

  const serve = async (options: Partial<NatsStrategyOptions> = {}, settings = work, handle?: () => Promise<void>) => {
    const run = handle ?? (async () => {});
    const count = worker(subject, settings, async ({ payload }) => {
      await run();
      handled.add(text(payload));
    });
    service = await startService(nats.url, [count], options);
  };
  const publish = async (...ids: string[]) =>
    service.bus.publish(ids.map((id) => ({ subject, payload: id, msgId: id })));
  const eventually = (check: () => unknown, timeout = 8_000) => vi.waitFor(check, { timeout, interval: 10 });
  const manager = () => jetstreamManager(service.bus.connection);

  it('makes the durable again when somebody deletes it, and goes on', async () => {
    await serve();
    await publish('before');
    await eventually(() => expect(handled).toContain('before'));
    await (await manager()).consumers.delete(streams.work, 'spec');
    await publish('after');
    await eventually(() => expect(handled).toContain('after'));
  });

  it('makes the stream again when somebody deletes it, and goes on', async () => {
    await serve();
    await (await manager()).streams.delete(streams.work);
    expect((await publish('after')).failed).toEqual([]);
    await eventually(() => expect(handled).toContain('after'));
  });

  it('goes on after the server was killed and lost its store', async () => {
    await serve();
    await publish('before');
    await eventually(() => expect(handled).toContain('before'));
    await nats.kill();
    nats.wipe();
    await nats.restart();
    await eventually(async () => expect((await publish('after')).failed).toEqual([]));
    await eventually(() => expect(handled).toContain('after'));
  });

  it('goes on after the server was away for three seconds', async () => {
    await serve();
    await nats.stop();
    const until = performance.now() + 3_000;
    await eventually(() => expect(performance.now()).toBeGreaterThan(until));
    expect(service.bus.status()).toBe('reconnecting');
    await nats.restart();
    await eventually(async () => expect((await publish('after')).failed).toEqual([]));
    await eventually(() => expect(handled).toContain('after'));
  });

  it('loses no message whose handler runs while the server is killed', async () => {
    const hold = gate();
    const started = gate();
    await serve({}, { ...work, ackWaitMs: 500 }, async () => {
      started.open();
      await hold.opened;
    });
    await publish('a', 'b', 'c');
    await started.opened;
    await nats.kill();
    hold.open();
    await nats.restart();
    await eventually(() => expect(service.bus.status()).toBe('connected'));
    await eventually(async () => {
      expect([...handled].sort()).toEqual(['a', 'b', 'c']);
      const info = await (await manager()).consumers.info(streams.work, 'spec');
      expect(info).toMatchObject({ num_ack_pending: 0, num_pending: 0 });
    });
  });

  it('gives up when a consumer with messages delivers none, also after rebuilding', async () => {
    const onStuck = vi.fn();
    // Somebody takes the whole allowance of unacknowledged messages and sits on it.
    const thief = await connectBus({ url: nats.url, name: 'thief' });
    const settings = { ...work, maxAckPending: 5 };
    const consumer = await thief.durable({ ...settings, subject });
    await thief.publish(Array.from({ length: 10 }, (_, i) => ({ subject, payload: `${i}`, msgId: `${i}` })));
    let stolen = 0;
    for await (const _ of await consumer.fetch({ max_messages: 5, expires: 5_000 })) stolen += 1;
    expect(stolen).toBe(5);
    await serve({ watchdogMs: 50, onStuck }, settings);
    await eventually(() => expect(onStuck).toHaveBeenCalled());
    expect(onStuck.mock.calls[0]?.[0]).toMatch(/INTENDANT_WORK\/spec has 5 messages and delivers none, after 3/);
    expect(handled.size).toBe(0);
    await thief.close();
  });

  it('does not mistake an idle or a busy consumer for a stuck one', async () => {
    const onStuck = vi.fn();
    const hold = gate();
    // Between two looks a free handler must have got its message, also on a machine that has much else to do.
    const watchdogMs = 500;
    await serve({ watchdogMs, onStuck }, { ...work, concurrency: 1 }, () => hold.opened);
    const looked = vi.spyOn(service.bus, 'backlog');
    await eventually(() => expect(looked.mock.calls.length).toBeGreaterThan(2));
    await publish('a', 'b');
    const until = performance.now() + 3 * watchdogMs;
    await eventually(() => expect(performance.now()).toBeGreaterThan(until));
    hold.open();
    await eventually(() => expect(handled.size).toBe(2));
    expect(onStuck).not.toHaveBeenCalled();
  });
});
