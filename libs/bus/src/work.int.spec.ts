import { streams } from '@intendant/contracts';
import { startNats } from '@intendant/testing';
import { jetstreamManager } from '@nats-io/jetstream';
import { Logger } from '@nestjs/common';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { WorkOptions } from './decorators.js';
import type { WorkMessage } from './messages.js';
import type { NatsStrategyOptions } from './nats-strategy.js';
import { gate, type Service, startService, text, worker } from './service.spec-helper.js';

describe('durable work', () => {
  let nats: Awaited<ReturnType<typeof startNats>>;
  let service: Service;
  let count = 0;
  let name = '';
  let subject = '';
  const services: Service[] = [];

  beforeAll(async () => {
    Logger.overrideLogger(false);
    nats = await startNats();
  });
  beforeEach(() => {
    count += 1;
    name = `work${count}`;
    subject = `intendant.work.${name}`;
  });
  afterEach(async () => {
    await Promise.all(services.splice(0).map(({ close }) => close()));
  });
  afterAll(() => nats.stop());

  const serve = async (
    handle: (message: WorkMessage) => unknown,
    options: Partial<WorkOptions> = {},
    strategy: Partial<NatsStrategyOptions> = {},
  ) => {
    const work = { stream: streams.work, durable: name, concurrency: 4, ackWaitMs: 30_000, ...options };
    service = await startService(nats.url, [worker(subject, work, handle)], strategy);
    services.push(service);
    return service;
  };
  const publish = async (...payloads: string[]) => {
    const { failed } = await service.bus.publish(
      payloads.map((payload) => ({ subject, payload, msgId: `${name}-${payload}`, headers: { 'Note-Of': payload } })),
    );
    expect(failed).toEqual([]);
  };
  const numbered = (n: number) => Array.from({ length: n }, (_, i) => `${i}`);
  const state = async () => (await jetstreamManager(service.bus.connection)).consumers.info(streams.work, name);
  const eventually = (check: () => unknown, timeout = 5_000) => vi.waitFor(check, { timeout, interval: 10 });

  it('gives a message with its headers to the handler, and acknowledges when it returns', async () => {
    const seen: unknown[] = [];
    await serve(({ payload, headers, subject: on }) => seen.push([on, text(payload), headers.get('note-of')]));
    await publish('a');
    await eventually(() => expect(seen).toEqual([[subject, 'a', 'a']]));
    await eventually(async () => expect(await state()).toMatchObject({ num_ack_pending: 0, num_pending: 0 }));
  });

  it('tells which stored message it is, on every delivery the same, when it was stored, and how often it came', async () => {
    const seen: { id: string; storedAt: number }[] = [];
    const deliveries: number[] = [];
    await serve((message) => {
      const { id, storedAt } = message;
      deliveries.push(message.deliveries);
      if (seen.push({ id, storedAt }) === 1) message.later(10);
    });
    const before = Date.now();
    await publish('a');
    const after = Date.now();
    await eventually(() => expect(seen).toHaveLength(2));
    expect(seen[0]).toEqual(seen[1]);
    expect(deliveries).toEqual([1, 2]);
    expect(seen[0]?.id).toMatch(/^INTENDANT_WORK:\d+$/);
    expect(seen[0]?.storedAt).toBeGreaterThanOrEqual(before);
    expect(seen[0]?.storedAt).toBeLessThanOrEqual(after);
  });

  it('brings back a message that was put off for longer than the server waits for acknowledgements when it is due', async () => {
    const seen: number[] = [];
    await serve(
      (message) => {
        if (seen.push(performance.now()) === 1) message.later(1_200);
      },
      { ackWaitMs: 200 },
    );
    await publish('a');
    await eventually(() => expect(seen).toHaveLength(2));
    expect((seen[1] ?? 0) - (seen[0] ?? 0)).toBeGreaterThan(1_150);
  });

  it('acknowledges early when the handler says so, and still counts the handler as running', async () => {
    const hold = gate();
    const started: string[] = [];
    await serve(
      async (message) => {
        started.push(text(message.payload));
        message.ack();
        await hold.opened;
      },
      { concurrency: 1 },
    );
    await publish('a', 'b');
    await eventually(async () => expect(await state()).toMatchObject({ num_ack_pending: 0, num_pending: 1 }));
    expect(started).toEqual(['a']);
    hold.open();
    await eventually(() => expect(started).toEqual(['a', 'b']));
  });

  it('does not bring back a message that was acknowledged before its handler failed', async () => {
    const seen: string[] = [];
    await serve(async (message) => {
      seen.push(text(message.payload));
      message.ack();
      throw new Error('after the commit');
    });
    await publish('a', 'b');
    await eventually(() => expect(seen).toHaveLength(2));
    await eventually(async () => expect(await state()).toMatchObject({ num_ack_pending: 0, num_redelivered: 0 }));
  });

  it('delivers again after a growing delay when a handler throws, at once or later, and goes on with others', async () => {
    const tries: number[] = [];
    const others: string[] = [];
    await serve((message) => {
      if (text(message.payload) !== 'bad') return others.push(text(message.payload));
      tries.push(performance.now());
      if (tries.length === 1) throw new Error('at once');
      if (tries.length < 4) return Promise.reject(new Error('later'));
    });
    await publish('bad', 'a', 'b');
    await eventually(() => expect(others.sort()).toEqual(['a', 'b']));
    await eventually(() => expect(tries).toHaveLength(4));
    const gaps = tries.slice(1).map((at, i) => at - (tries[i] ?? 0));
    // Half to all of 200, 400 and 800 ms; timers of client and server may differ by a few.
    for (const [i, least] of [95, 195, 395].entries()) expect(gaps[i]).toBeGreaterThan(least);
    await eventually(async () => expect(await state()).toMatchObject({ num_ack_pending: 0 }));
  });

  it('runs no more handlers than its concurrency, and takes no message ahead', async () => {
    const hold = gate();
    let running = 0;
    let most = 0;
    let handled = 0;
    await serve(
      async () => {
        running += 1;
        most = Math.max(most, running);
        await hold.opened;
        running -= 1;
        handled += 1;
      },
      { concurrency: 3 },
    );
    await publish(...numbered(20));
    await eventually(async () => expect(await state()).toMatchObject({ num_ack_pending: 3, num_pending: 17 }));
    hold.open();
    await eventually(() => expect(handled).toBe(20));
    expect(most).toBe(3);
  });

  it('shares a durable between two replicas and handles each message once', async () => {
    const seen = new Map<string, number>();
    const by = [0, 0];
    const handler = (replica: number) => async (message: WorkMessage) => {
      const payload = text(message.payload);
      seen.set(payload, (seen.get(payload) ?? 0) + 1);
      by[replica] = (by[replica] ?? 0) + 1;
    };
    await serve(handler(0));
    await serve(handler(1));
    await publish(...numbered(500));
    await eventually(() => expect(seen.size).toBe(500));
    await eventually(async () => expect(await state()).toMatchObject({ num_ack_pending: 0 }));
    expect([...seen.values()].every((times) => times === 1)).toBe(true);
    expect(Math.min(...by)).toBeGreaterThan(0);
  });

  it('keeps a message while its handler works longer than the acknowledgement wait', async () => {
    let deliveries = 0;
    const until = performance.now() + 1_200;
    await serve(
      async () => {
        deliveries += 1;
        await eventually(() => expect(performance.now()).toBeGreaterThan(until));
      },
      { ackWaitMs: 300 },
    );
    await publish('long');
    await eventually(() => expect(deliveries).toBe(1));
    await eventually(async () => expect(await state()).toMatchObject({ num_ack_pending: 0, num_redelivered: 0 }));
    expect(deliveries).toBe(1);
  });

  it('lets a message go to somebody else when its handler never ends', async () => {
    const hold = gate();
    let deliveries = 0;
    await serve(
      async () => {
        deliveries += 1;
        if (deliveries === 1) await hold.opened;
      },
      { ackWaitMs: 150 },
    );
    await publish('hangs');
    await eventually(() => expect(deliveries).toBe(2));
    hold.open();
  });

  it('stops cleanly: finishes and acknowledges what runs, and leaves the rest to others at once', async () => {
    const hold = gate();
    const seen: string[] = [];
    const handle = async (message: WorkMessage) => {
      await hold.opened;
      seen.push(text(message.payload));
    };
    const first = await serve(handle);
    await publish(...numbered(50));
    await eventually(async () => expect((await state()).num_ack_pending).toBe(4));
    const closing = first.strategy.close();
    expect(first.strategy.close()).toBe(closing);
    hold.open();
    await closing;
    expect(seen).toHaveLength(4);
    expect(await state()).toMatchObject({ num_ack_pending: 0, num_pending: 46 });
    await serve(handle);
    await eventually(() => expect(seen).toHaveLength(50));
    expect(new Set(seen).size).toBe(50);
  });

  it('does not wait longer than its limit for a handler that hangs', async () => {
    const hold = gate();
    const { strategy } = await serve(() => hold.opened, {}, { stopLimitMs: 100 });
    await publish('hangs');
    await eventually(async () => expect((await state()).num_ack_pending).toBe(1));
    await strategy.close();
    hold.open();
  });
});
