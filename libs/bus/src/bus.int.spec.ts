import { streams } from '@intendant/contracts';
import { startNats } from '@intendant/testing';
import { jetstreamManager } from '@nats-io/jetstream';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Bus } from './bus.js';
import { connectBus } from './connect-bus.js';
import { BusUnavailable, NoResponder, RequestTimeout } from './errors.js';
import { text } from './service.spec-helper.js';

describe('Bus', () => {
  let nats: Awaited<ReturnType<typeof startNats>>;
  let bus: Bus;
  const subject = 'intendant.work.spec';
  const stored = async () => (await (await jetstreamManager(bus.connection)).streams.info(streams.work)).state.messages;
  const becomes = (status: string) =>
    vi.waitFor(() => expect(bus.status()).toBe(status), { timeout: 5_000, interval: 10 });

  beforeEach(async () => {
    nats = await startNats();
    bus = await connectBus({ url: nats.url, name: 'spec' });
  });
  afterEach(async () => {
    await bus.close();
    await nats.stop();
  });

  it('publishes in one go, once per message id, with headers', async () => {
    const messages = Array.from({ length: 200 }, (_, i) => ({
      subject,
      payload: `${i}`,
      msgId: `m${i}`,
      headers: { traceparent: 'with\r\nbreak' },
    }));
    expect(await bus.publish(messages)).toEqual({ published: messages.map(({ msgId }) => msgId), failed: [] });
    expect((await bus.publish(messages.slice(0, 10))).published).toHaveLength(10);
    expect(await stored()).toBe(200);
    const manager = await jetstreamManager(bus.connection);
    const message = await manager.streams.getMessage(streams.work, { seq: 1 });
    expect(message?.header.get('traceparent')).toBe('with break');
  });

  it('reports failures by message id and publishes the others', async () => {
    const result = await bus.publish([
      { subject, payload: 'fine', msgId: 'fine' },
      { subject: 'nowhere.at.all', payload: 'x', msgId: 'homeless' },
      { subject, payload: new Uint8Array(2_000_000), msgId: 'huge' },
    ]);
    expect(result.published).toEqual(['fine']);
    expect(result.failed.map(({ msgId }) => msgId).sort()).toEqual(['homeless', 'huge']);
    for (const { error } of result.failed) expect(error).toBeInstanceOf(Error);
  });

  it('makes the streams again when the server lost its store, and publishes', async () => {
    await nats.kill();
    nats.wipe();
    await nats.restart();
    await becomes('connected');
    const result = await bus.publish([
      { subject, payload: 'a', msgId: 'a' },
      { subject, payload: 'b', msgId: 'b' },
    ]);
    expect(result).toEqual({ published: ['a', 'b'], failed: [] });
    expect(await stored()).toBe(2);
  });

  it('fails at once while the server is away, and drops hints without an error', async () => {
    await nats.kill();
    await becomes('reconnecting');
    const { failed } = await bus.publish([{ subject, payload: 'a', msgId: 'a' }]);
    expect(failed).toEqual([{ msgId: 'a', error: expect.any(BusUnavailable) }]);
    await expect(bus.request('intendant.rpc.spec', '', { timeoutMs: 5_000 })).rejects.toThrow(BusUnavailable);
    bus.hint('intendant.hint.spec', 'lost');
  });

  it('tells a request that nobody answers from one whose answer is late', async () => {
    const asked = bus.request('intendant.rpc.spec', '', { timeoutMs: 5_000 });
    await expect(asked).rejects.toThrow(NoResponder);
    bus.connection.subscribe('intendant.rpc.spec', { callback: () => {} });
    const late = bus.request('intendant.rpc.spec', '', { timeoutMs: 50 });
    await expect(late).rejects.toThrow(RequestTimeout);
  });

  it('gives a hint to every listener, and to one of each queue', async () => {
    const heard: string[] = [];
    const hear = (name: string, queue?: string) =>
      bus.onHint('intendant.hint.spec', ({ payload }) => void heard.push(`${name}:${text(payload)}`), {
        ...(queue ? { queue } : {}),
      });
    hear('one');
    const forget = hear('two');
    hear('queued', 'q');
    hear('queued', 'q');
    bus.onHint('intendant.hint.spec', () => {
      throw new Error('a listener that fails harms nobody');
    });
    bus.hint('intendant.hint.spec', 'a');
    await vi.waitFor(() => expect([...heard].sort()).toEqual(['one:a', 'queued:a', 'two:a']), { interval: 10 });
    forget();
    bus.hint('intendant.hint.spec', 'b');
    await bus.flush();
    await vi.waitFor(() => expect([...heard].sort()).toEqual(['one:a', 'one:b', 'queued:a', 'queued:b', 'two:a']));
  });

  it('drains what was sent when it closes', async () => {
    const other = await connectBus({ url: nats.url, name: 'other' });
    const heard: string[] = [];
    other.onHint('intendant.hint.spec', ({ payload }) => void heard.push(text(payload)));
    await other.flush();
    for (let i = 0; i < 100; i += 1) bus.hint('intendant.hint.spec', `${i}`);
    await bus.close();
    await vi.waitFor(() => expect(heard).toHaveLength(100), { interval: 10 });
    await other.close();
  });
});
