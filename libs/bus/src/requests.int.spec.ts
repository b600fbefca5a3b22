import { Refusal } from '@intendant/contracts';
import { startNats } from '@intendant/testing';
import { Logger } from '@nestjs/common';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { NatsStrategyOptions } from './nats-strategy.js';
import { gate, listener, responder, type Service, startService, text } from './service.spec-helper.js';

describe('requests and hints', () => {
  let nats: Awaited<ReturnType<typeof startNats>>;
  const services: Service[] = [];
  const serve = async (controllers: Parameters<typeof startService>[1], options?: Partial<NatsStrategyOptions>) => {
    const service = await startService(nats.url, controllers, options);
    services.push(service);
    return service;
  };
  const subject = 'intendant.rpc.spec';

  beforeAll(async () => {
    Logger.overrideLogger(false);
    nats = await startNats();
  });
  afterEach(async () => {
    await Promise.all(services.splice(0).map((service) => service.close()));
  });
  afterAll(() => nats.stop());

  it('answers with the bare result, and gives the handler payload and headers', async () => {
    const { bus } = await serve([
      responder(subject, async ({ payload, headers }) => ({
        got: text(payload),
        user: headers.get('authorization'),
        none: headers.get('absent') ?? null,
      })),
    ]);
    const reply = await bus.request(subject, 'hello', { timeoutMs: 2_000, headers: { Authorization: 'Bearer t' } });
    expect(JSON.parse(text(reply.data))).toEqual({ got: 'hello', user: 'Bearer t', none: null });
    expect(reply.headers.get('Intendant-Error')).toBeUndefined();
  });

  it('sends strings and bytes as they are', async () => {
    const { bus } = await serve([
      responder(subject, () => '{"ready":true}'),
      responder('intendant.rpc.bytes', () => Uint8Array.of(1, 2, 3)),
    ]);
    expect(text((await bus.request(subject, '', { timeoutMs: 2_000 })).data)).toBe('{"ready":true}');
    expect([...(await bus.request('intendant.rpc.bytes', '', { timeoutMs: 2_000 })).data]).toEqual([1, 2, 3]);
  });

  it('answers a refusal with its error object and code', async () => {
    const { bus } = await serve([
      responder(subject, () => {
        throw new Refusal('unknown_tool', 'There is no tool of this name.', { tool: 'x' });
      }),
    ]);
    const reply = await bus.request(subject, '', { timeoutMs: 2_000 });
    expect(reply.headers.get('Intendant-Error')).toBe('unknown_tool');
    expect(JSON.parse(text(reply.data))).toEqual({
      error: expect.objectContaining({ code: 'unknown_tool', retryable: false, details: { tool: 'x' } }),
    });
  });

  it('answers any other error as internal and tells nothing of its inside', async () => {
    const { bus } = await serve([
      responder(subject, async () => {
        throw new Error('password=hush at 10.0.0.1');
      }),
    ]);
    for (let i = 0; i < 3; i += 1) {
      const reply = await bus.request(subject, '', { timeoutMs: 2_000 });
      expect(reply.headers.get('Intendant-Error')).toBe('internal');
      expect(text(reply.data)).not.toContain('hush');
      expect(JSON.parse(text(reply.data)).error).toMatchObject({
        code: 'internal',
        nextAction: 'wait',
        retryable: true,
      });
    }
  });

  it('answers a result that is too large or cannot be encoded as internal', async () => {
    const circular: { self?: unknown } = {};
    circular.self = circular;
    const { bus } = await serve([
      responder(subject, () => circular),
      responder('intendant.rpc.large', () => 'x'.repeat(2_000_000)),
    ]);
    const answers = await Promise.all(
      [subject, 'intendant.rpc.large'].map((to) => bus.request(to, '', { timeoutMs: 2_000 })),
    );
    expect(answers.map(({ headers }) => headers.get('Intendant-Error'))).toEqual(['internal', 'internal']);
  });

  it('refuses as unavailable what goes beyond its limit', async () => {
    const hold = gate();
    const { bus } = await serve([responder(subject, () => hold.opened.then(() => ({})))], { requestLimit: 2 });
    const ask = () => bus.request(subject, '', { timeoutMs: 2_000 });
    const held = [ask(), ask()];
    expect((await ask()).headers.get('Intendant-Error')).toBe('unavailable');
    hold.open();
    for (const reply of await Promise.all(held)) expect(reply.headers.get('Intendant-Error')).toBeUndefined();
    expect((await ask()).headers.get('Intendant-Error')).toBeUndefined();
  });

  it('handles as many at once as a handler says that has a limit of its own', async () => {
    const hold = gate();
    const handle = () => hold.opened.then(() => ({}));
    const { bus } = await serve([responder(subject, handle, { limit: 3 })], { requestLimit: 1 });
    const ask = () => bus.request(subject, '', { timeoutMs: 2_000 });
    const held = [ask(), ask(), ask()];
    expect((await ask()).headers.get('Intendant-Error')).toBe('unavailable');
    hold.open();
    for (const reply of await Promise.all(held)) expect(reply.headers.get('Intendant-Error')).toBeUndefined();
  });

  it('lets one replica answer each request, whatever the processes are called', async () => {
    let handled = 0;
    const count = responder(subject, () => {
      handled += 1;
      return {};
    });
    const { bus } = await serve([count], { service: 'policy' });
    await serve([count], { service: 'standalone' });
    await Promise.all(Array.from({ length: 50 }, () => bus.request(subject, '', { timeoutMs: 2_000 })));
    expect(handled).toBe(50);
  });

  it('finishes the requests it has taken before it stops', async () => {
    const hold = gate();
    const started = gate();
    const { strategy } = await serve([
      responder(subject, async () => {
        started.open();
        await hold.opened;
        return { done: true };
      }),
    ]);
    const { bus } = await serve([]);
    const asked = bus.request(subject, '', { timeoutMs: 2_000 });
    await started.opened;
    const closing = strategy.close();
    hold.open();
    await closing;
    expect(JSON.parse(text((await asked).data))).toEqual({ done: true });
    await expect(bus.request(subject, '', { timeoutMs: 2_000 })).rejects.toThrow(/nobody answers/);
  });

  it('gives hints to every replica, or to one of a service, and survives a handler that throws', async () => {
    const heard: string[] = [];
    const controllers = (name: string) => [
      listener('intendant.hint.all', {}, ({ payload }) => {
        heard.push(`${name}:${text(payload)}`);
        throw new Error('failed after hearing');
      }),
      listener('intendant.hint.one', { queue: true }, ({ payload }) => heard.push(`one:${text(payload)}`)),
    ];
    const { bus } = await serve(controllers('a'));
    const other = await serve(controllers('b'));
    await other.bus.flush();
    for (const payload of ['1', '2']) {
      bus.hint('intendant.hint.all', payload);
      bus.hint('intendant.hint.one', payload);
    }
    await vi.waitFor(() => expect([...heard].sort()).toEqual(['a:1', 'a:2', 'b:1', 'b:2', 'one:1', 'one:2']), {
      interval: 10,
    });
  });
});
