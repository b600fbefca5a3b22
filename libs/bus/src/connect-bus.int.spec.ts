import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { inspect } from 'node:util';
import { startNats, startTcpProxy } from '@intendant/testing';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { connectBus } from './connect-bus.js';
import { BusUnavailable } from './errors.js';

/** Connects by way of somebody who says nothing to whoever comes before the `nth`. */
async function whoGreets(port: number, nth: number) {
  let came = 0;
  const door = net.createServer((socket) => {
    came += 1;
    if (came < nth) return;
    const server = net.connect(port, '127.0.0.1');
    socket.pipe(server).pipe(socket);
    for (const each of [socket, server]) each.on('error', () => undefined);
  });
  door.listen(0, '127.0.0.1');
  await once(door, 'listening');
  onTestFinished(() => void door.close());
  const url = `nats://127.0.0.1:${(door.address() as net.AddressInfo).port}`;
  return { bus: await connectBus({ url, name: 'spec' }), greeted: () => came };
}

describe('connectBus', () => {
  const servers: Awaited<ReturnType<typeof startNats>>[] = [];
  const start = async (options?: Parameters<typeof startNats>[0]) => {
    const server = await startNats(options);
    servers.push(server);
    return server;
  };
  afterEach(async () => {
    await Promise.all(servers.splice(0).map((server) => server.stop()));
  });

  const refusal = async (url: string): Promise<BusUnavailable> => {
    const error = await connectBus({ url, name: 'spec' }).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(BusUnavailable);
    return error as BusUnavailable;
  };

  it('says at once when no server answers, without the password', async () => {
    const nats = await start();
    await nats.stop();
    const { message } = await refusal(`nats://me:hush@127.0.0.1:${nats.port}`);
    expect(message).toContain(`NATS at nats://127.0.0.1:${nats.port} cannot be reached`);
    expect(message).not.toContain('hush');
  });

  it('tries once more where nobody greets in time, as on a machine where much starts at once', async () => {
    const nats = await start();
    const { bus, greeted } = await whoGreets(nats.port, 2);
    expect(bus.status()).toBe('connected');
    await bus.close();
    expect(greeted()).toBe(2);
  }, 20_000);

  it('says when the server runs without JetStream', async () => {
    const nats = await start({ jetStream: false });
    expect((await refusal(nats.url)).message).toMatch(/runs without JetStream.*`-js`/);
  });

  it('says what it waited for when the server goes away while it looks for its streams', async () => {
    const nats = await start();
    const proxy = await startTcpProxy(nats.port);
    const cut = proxy.cutOnce({ after: 'STREAM.INFO', direction: 'to_client', bytes: 0 });
    const { message } = await refusal(proxy.through(nats.url));
    expect(message).toContain(`JetStream at nats://127.0.0.1:${proxy.port} does not tell of its streams: `);
    await cut;
    await proxy.close();
  });

  it('says when the server refuses the user', async () => {
    const nats = await start({ args: ['--user', 'me', '--pass', 'right'] });
    expect((await refusal(`nats://me:wrong@127.0.0.1:${nats.port}`)).message).toMatch(/refuses this user/);
  });

  it('says when the server does not tell of the streams, as a cluster without a leader for them', async () => {
    const dir = mkdtempSync(path.join(os.tmpdir(), 'intendant-nats-conf-'));
    onTestFinished(() => rmSync(dir, { recursive: true }));
    const file = path.join(dir, 'nats.conf');
    const silent = '{ publish: { allow: ">", deny: "$JS.API.STREAM.INFO.>" } }';
    writeFileSync(file, `authorization { users: [{ user: me, password: right, permissions: ${silent} }] }`);
    const nats = await start({ args: ['-c', file] });
    const { message } = await refusal(`nats://me:right@127.0.0.1:${nats.port}`);
    expect(message).toMatch(/does not tell of its streams: .*once a leader is elected.*permissions of this user/);
  });

  it('takes user and password from the URL, for whichever server of the list answers', async () => {
    const gone = await start();
    await gone.stop();
    const nats = await start({ args: ['--user', 'm@e', '--pass', 'hu,sh%'] });
    const url = `nats://m%40e:hu%2Csh%25@127.0.0.1:${gone.port},nats://127.0.0.1:${nats.port}`;
    const bus = await connectBus({ url, name: 'spec' });
    expect(bus.status()).toBe('connected');
    await bus.close();
  });

  it('takes a token from the URL, and does not show a wrong one', async () => {
    const nats = await start({ args: ['--auth', 'to:ken'] });
    const bus = await connectBus({ url: `nats://to%3Aken@127.0.0.1:${nats.port}`, name: 'spec' });
    await bus.close();
    const error = await refusal(`nats://hush@127.0.0.1:${nats.port}`);
    expect(error.message).toMatch(/refuses this user/);
    expect(inspect(error, { depth: 10 })).not.toContain('hush');
  });

  it('never gives up reconnecting', async () => {
    const nats = await start();
    const bus = await connectBus({ url: nats.url, name: 'spec' });
    expect(bus.connection).toHaveProperty('options.maxReconnectAttempts', -1);
    await bus.close();
  });

  it('tells when the connection ends for good, and not when it is closed on purpose', async () => {
    const nats = await start();
    const onClosed = vi.fn();
    const quiet = vi.fn();
    const bus = await connectBus({ url: nats.url, name: 'spec', onClosed });
    const closed = await connectBus({ url: nats.url, name: 'spec', onClosed: quiet });
    await closed.close();
    expect(closed.status()).toBe('closed');
    await nats.stop();
    await start({ port: nats.port, args: ['--user', 'me', '--pass', 'changed'] });
    await vi.waitFor(() => expect(onClosed).toHaveBeenCalledOnce(), { timeout: 5_000, interval: 20 });
    expect(bus.status()).toBe('closed');
    expect(quiet).not.toHaveBeenCalled();
  });

  it('follows the connection through a restart of the server', async () => {
    const nats = await start();
    const bus = await connectBus({ url: nats.url, name: 'spec' });
    expect(await bus.rtt()).toBeGreaterThanOrEqual(0);
    await nats.kill();
    await vi.waitFor(() => expect(bus.status()).toBe('reconnecting'), { timeout: 5_000, interval: 10 });
    await expect(bus.rtt()).rejects.toThrow(BusUnavailable);
    await nats.restart();
    await vi.waitFor(() => expect(bus.status()).toBe('connected'), { timeout: 5_000, interval: 10 });
    await bus.close();
  });

  it('closes in time though the server answers nothing', async () => {
    const nats = await start();
    const bus = await connectBus({ url: nats.url, name: 'spec' });
    nats.pause();
    await bus.close();
    expect(bus.status()).toBe('closed');
    nats.resume();
  });
});
