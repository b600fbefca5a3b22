import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { busInequalities, busWindows, runLifetimes, streams, subjects } from '@intendant/contracts';
import { startNats } from '@intendant/testing';
import { DiscardPolicy, jetstreamManager } from '@nats-io/jetstream';
import { connect, millis, type NatsConnection, nanos } from '@nats-io/transport-node';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Bus } from './bus.js';
import { connectBus } from './connect-bus.js';
import { ensureTopology } from './ensure-topology.js';
import { BusUnavailable, TopologyMismatch } from './errors.js';
import { durables, topology } from './topology.js';

describe('topology', () => {
  let nats: Awaited<ReturnType<typeof startNats>>;
  let connection: NatsConnection;

  beforeEach(async () => {
    nats = await startNats();
    connection = await connect({ servers: nats.url });
  });
  afterEach(async () => {
    await connection.close();
    await nats.stop();
  });

  it('creates the streams and durables that are missing', async () => {
    await ensureTopology(connection);
    const manager = await jetstreamManager(connection);
    const intents = await manager.streams.info(streams.intents);
    expect(intents.config).toMatchObject({
      subjects: ['intendant.intents.*'],
      discard: 'new',
      retention: 'workqueue',
      storage: 'file',
      max_age: nanos(7 * 24 * 3_600_000),
      max_bytes: 1024 ** 3,
    });
    const dispatcher = await manager.consumers.info(streams.work, 'dispatcher');
    expect(dispatcher.config).toMatchObject({ max_deliver: -1, ack_policy: 'explicit' });
    expect(dispatcher.config.backoff).toBeUndefined();
  });

  it('has windows in which no run that can still act is forgotten', async () => {
    await ensureTopology(connection);
    const manager = await jetstreamManager(connection);
    const configs = await Promise.all(
      Object.values(streams).map(async (name) => (await manager.streams.info(name)).config),
    );
    const [intents, work, events] = configs;
    const consumers = await Promise.all(
      Object.values(durables).map(
        async ({ stream, durable }) => (await manager.consumers.info(stream, durable)).config,
      ),
    );
    const found = {
      ...busWindows,
      duplicateMs: Math.min(...configs.map(({ duplicate_window }) => millis(duplicate_window))),
      ackWaitMs: Math.max(...consumers.map(({ ack_wait }) => millis(ack_wait ?? 0))),
      submissionMs: millis(intents?.max_age ?? 0),
      doorbellMs: millis(work?.max_age ?? 0),
      eventMs: millis(events?.max_age ?? 0),
    };
    expect(found).toEqual(busWindows);
    expect(busInequalities(found, runLifetimes).filter(({ holds }) => !holds)).toEqual([]);
  });

  it('refuses an intent that does not fit any more, and keeps those that are there', async () => {
    const small = topology.streams.map((stream) => ({ ...stream, max_bytes: 4_000 }));
    await ensureTopology(connection, { streams: small, durables: [] });
    const bus = await connectBus({ url: nats.url, name: 'spec' });
    const intent = (msgId: string) => ({ subject: subjects.intents('acme'), payload: 'x'.repeat(2_500), msgId });
    expect((await bus.publish([intent('first')])).failed).toEqual([]);
    const { failed } = await bus.publish([intent('second')]);
    expect(failed.map(({ error }) => error.message)).toEqual(['maximum bytes exceeded']);
    const { state } = await (await jetstreamManager(connection)).streams.info(streams.intents);
    expect(state.messages).toBe(1);
    await bus.close();
  });

  describe('on a small disk', () => {
    const dir = mkdtempSync(path.join(os.tmpdir(), 'intendant-nats-conf-'));
    afterAll(() => rmSync(dir, { recursive: true }));
    const startWith = async (maxFile: number) => {
      const file = path.join(dir, `${maxFile}.conf`);
      writeFileSync(file, `jetstream { max_file: ${maxFile} }`);
      const small = await startNats({ args: ['-c', file] });
      const bus = await connectBus({ url: small.url, name: 'spec' }).catch((error: unknown) => error);
      if (bus instanceof Bus) await bus.close();
      await small.stop();
      return bus;
    };

    it('fits into what a server offers when two gibibytes are free', async () => {
      expect(await startWith(1.5 * 1024 ** 3)).toBeInstanceOf(Bus);
    });

    it('says which stream has no room', async () => {
      const error = await startWith(1024 ** 3 - 1);
      expect(error).toBeInstanceOf(BusUnavailable);
      expect(String(error)).toMatch(/no room for stream INTENDANT_INTENTS, which reserves 1024 MiB.*`max_file`/);
    });
  });

  it('leaves alone what is already right', async () => {
    await ensureTopology(connection);
    const manager = await jetstreamManager(connection);
    const { created } = await manager.streams.info(streams.work);
    await ensureTopology(connection);
    expect((await manager.streams.info(streams.work)).created).toBe(created);
  });

  it('lets a durable that is there because of a setting follow it, and keeps its place', async () => {
    await ensureTopology(connection);
    const manager = await jetstreamManager(connection);
    const optional = (since: number) => ({ since: new Date(since), forgottenAfterMs: 3_600_000 });
    const ensure = (subject: readonly string[], since: number, ackWaitMs = 15_000) => {
      const spec = { stream: streams.events, durable: 'told', subject, ackWaitMs, optional: optional(since) };
      return ensureTopology(connection, { streams: [], durables: [spec] });
    };
    const info = () => manager.consumers.info(streams.events, 'told');
    await ensure(['intendant.events.*.*.*.denied'], 1_000);
    const { created } = await info();
    await ensure(['intendant.events.acme.*.*.denied', 'intendant.events.acme.*.*.failed'], 2_000, 20_000);
    expect(await info()).toMatchObject({
      created,
      config: {
        filter_subjects: ['intendant.events.acme.*.*.denied', 'intendant.events.acme.*.*.failed'],
        ack_wait: nanos(20_000),
        opt_start_time: '1970-01-01T00:00:01Z',
        inactive_threshold: nanos(3_600_000),
      },
    });
  });

  it('may be ensured by many processes at once', async () => {
    await Promise.all(Array.from({ length: 8 }, () => ensureTopology(connection)));
    expect((await (await jetstreamManager(connection)).streams.names().next()).length).toBe(3);
  });

  it('refuses to connect when a stream is configured differently, and names each field', async () => {
    const manager = await jetstreamManager(connection);
    await manager.streams.add({
      name: streams.work,
      subjects: ['intendant.work.>'],
      deny_purge: true,
      deny_delete: true,
      discard: DiscardPolicy.New,
      max_age: nanos(60_000),
      duplicate_window: nanos(60_000),
    });
    const error = await connectBus({ url: nats.url, name: 'spec' }).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(TopologyMismatch);
    const { differences, message } = error as TopologyMismatch;
    const resource = `stream ${streams.work}`;
    expect(differences).toEqual([
      { resource, field: 'duplicate_window', wanted: nanos(120_000), found: nanos(60_000) },
      { resource, field: 'discard', wanted: 'old', found: 'new' },
      { resource, field: 'max_age', wanted: nanos(24 * 3_600_000), found: nanos(60_000) },
    ]);
    expect(message).toContain('stream INTENDANT_WORK: discard is "new", "old" is needed');
  });

  it('refuses a stream with fewer replicas than are asked for', async () => {
    await ensureTopology(connection);
    await expect(ensureTopology(connection, topology, 3)).rejects.toThrow(
      /stream INTENDANT_INTENTS: num_replicas is 1, 3 is needed/,
    );
    await ensureTopology(connection, topology, 1);
  });

  it('says when there are fewer servers than replicas', async () => {
    const error = await connectBus({ url: nats.url, name: 'spec', replicas: 3 }).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(BusUnavailable);
    expect(String(error)).toMatch(/cannot keep 3 replicas of stream INTENDANT_INTENTS.*INTENDANT_STREAM_REPLICAS/);
  });

  it('refuses a durable that is configured differently', async () => {
    await ensureTopology(connection);
    const shorter = { ...durables.dispatch, ackWaitMs: 5_000 };
    await expect(ensureTopology(connection, { ...topology, durables: [shorter] })).rejects.toThrow(
      /consumer INTENDANT_WORK\/dispatcher: ack_wait is 30000000000, 5000000000 is needed/,
    );
  });
});
