import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { streams, subjects } from '@intendant/contracts';
import { startNats } from '@intendant/testing';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { Logger } from '@nestjs/common';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { listener, responder, type Service, startService, text, worker } from './service.spec-helper.js';
import { durables } from './topology.js';

/** The table of docs/operations.md, section NATS. */
const config = `
authorization {
  users: [
    { user: services, password: secret, permissions: {
        publish: ["intendant.>", "$JS.API.>", "$JS.ACK.>"], subscribe: ["intendant.>", "_INBOX_intendant.>"]
        allow_responses: true } }
    { user: agent, password: secret, permissions: {
        publish: ["intendant.intents.acme", "intendant.rpc.submit", "intendant.rpc.tools"]
        subscribe: ["_INBOX_agent.>", "intendant.events.acme.>"] } }
  ]
}`;

describe('NATS permissions of the operations guide', () => {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'intendant-nats-conf-'));
  const heard: string[] = [];
  const slow = { stream: streams.work, durable: 'slow', concurrency: 1, ackWaitMs: 200 };
  let nats: Awaited<ReturnType<typeof startNats>>;
  let service: Service;
  let agent: NatsConnection;
  const hear = (kind: string) => (message: { payload: Uint8Array }) => {
    heard.push(`${kind} ${text(message.payload)}`);
    return { kind };
  };
  const hears = (message: string) =>
    vi.waitFor(() => expect(heard).toContain(message), { timeout: 5_000, interval: 10 });

  beforeAll(async () => {
    Logger.overrideLogger(false);
    const file = path.join(dir, 'nats.conf');
    writeFileSync(file, config);
    nats = await startNats({ args: ['-c', file] });
    service = await startService(`nats://services:secret@127.0.0.1:${nats.port}`, [
      worker(subjects.anyIntents, { ...durables.admission, concurrency: 1 }, hear('intent')),
      worker(subjects.dispatch, { ...durables.dispatch, concurrency: 1 }, hear('work')),
      worker('intendant.work.slow', slow, async (message) => {
        const until = performance.now() + 400;
        await vi.waitFor(() => expect(performance.now()).toBeGreaterThan(until), { interval: 10 });
        hear('slow')(message);
      }),
      responder(subjects.rpcSubmit, hear('submit')),
      responder(subjects.rpcTools, hear('tools')),
      listener(subjects.hintChanged, {}, hear('hint')),
    ]);
    const servers = `127.0.0.1:${nats.port}`;
    agent = await connect({ servers, user: 'agent', pass: 'secret', inboxPrefix: '_INBOX_agent' });
  });
  afterAll(async () => {
    await agent.close();
    await service.close();
    await nats.stop();
    rmSync(dir, { recursive: true });
  });

  it('let services publish, work durably with acknowledgements, ask, answer and hint', async () => {
    const message = { subject: subjects.dispatch, payload: 'ring', msgId: 'ring' };
    expect(await service.bus.publish([message])).toEqual({ published: ['ring'], failed: [] });
    await hears('work ring');
    const consumer = await service.bus.durable(durables.dispatch);
    await vi.waitFor(async () => expect((await consumer.info()).ack_floor.stream_seq).toBe(1), { interval: 10 });
    const reply = await service.bus.request(subjects.rpcSubmit, 'from a service', { timeoutMs: 2_000 });
    expect(JSON.parse(text(reply.data))).toEqual({ kind: 'submit' });
    service.bus.hint(subjects.hintChanged, 'look');
    await hears('hint look');
  });

  it('let services show that they work on a message before they acknowledge it', async () => {
    await service.bus.publish([{ subject: 'intendant.work.slow', payload: 'one', msgId: 'slow' }]);
    await hears('slow one');
    const consumer = await service.bus.durable({ ...slow, subject: 'intendant.work.slow' });
    await vi.waitFor(async () => {
      expect(await consumer.info()).toMatchObject({ num_ack_pending: 0, num_pending: 0 });
    });
    expect(heard.filter((message) => message === 'slow one')).toHaveLength(1);
  });

  it('let an agent list tools, store an intent, submit one with an inbox of its own, and follow the events of its tenant', async () => {
    const events = agent.subscribe('intendant.events.acme.>', { max: 1 });
    const stored = await jetstream(agent).publish(subjects.intents('acme'), 'mine');
    expect(stored.stream).toBe(streams.intents);
    await hears('intent mine');
    const reply = await agent.request(subjects.rpcSubmit, 'mine too', { timeout: 2_000 });
    expect(reply.json()).toEqual({ kind: 'submit' });
    const tools = await agent.request(subjects.rpcTools, '', { timeout: 2_000 });
    expect(tools.json()).toEqual({ kind: 'tools' });
    const event = subjects.event('acme', 'run', 'intent', 'committed');
    await service.bus.publish([{ subject: event, payload: 'done', msgId: 'done' }]);
    for await (const message of events) expect(message.string()).toBe('done');
  });

  it.each(['_INBOX.>', '_INBOX_intendant.>', 'intendant.events.other.>', 'intendant.intents.acme', '$JS.>', '>'])(
    'do not let an agent listen to %s',
    async (subject) => {
      const refused = new Promise<string>((resolve) => {
        agent.subscribe(subject, { callback: (error) => resolve(error?.message ?? 'heard something') });
      });
      expect(await refused).toMatch(/Permissions Violation for Subscription/i);
    },
  );

  it.each([
    subjects.dispatch,
    subjects.hintChanged,
    subjects.intents('other'),
    subjects.rpcReplayMessage,
    subjects.rpcOpenRun,
    `$JS.API.STREAM.PURGE.${streams.events}`,
    '_INBOX_intendant.forged',
  ])('do not let an agent publish to %s', async (subject) => {
    const published = agent.request(subject, 'forged', { timeout: 2_000 });
    await expect(published).rejects.toThrow(/Permissions Violation for Publish/i);
    expect(heard.some((message) => message.endsWith('forged'))).toBe(false);
  });

  it('do not let an agent have the services write for it, by where it wants the reply', async () => {
    for (const reply of [subjects.dispatch, `$JS.API.STREAM.PURGE.${streams.work}`]) {
      agent.publish(subjects.rpcSubmit, 'aimed', { reply });
    }
    const manager = await jetstreamManager(service.bus.connection);
    const { state } = await manager.streams.info(streams.work);
    // Answered in order, so those before have been dealt with.
    await agent.request(subjects.rpcSubmit, 'after', { timeout: 2_000 });
    expect(heard).not.toContain('submit aimed');
    await service.bus.flush();
    expect((await manager.streams.info(streams.work)).state.last_seq).toBe(state.last_seq);
    expect((await manager.streams.info(streams.work)).state.messages).toBe(state.messages);
  });

  it('do not let anybody remove what a stream holds, neither outright nor by where a publish wants its acknowledgement', async () => {
    const manager = await jetstreamManager(service.bus.connection);
    const ids = ['a', 'b', 'c'];
    const kept = [subjects.dispatch, subjects.event('other', 'run', 'intent', 'committed')];
    await service.bus.publish(
      kept.flatMap((subject) => ids.map((id) => ({ subject, payload: '{}', msgId: subject + id }))),
    );
    const held = async (name: string) => (await manager.streams.info(name)).state.messages;
    for (const name of [streams.work, streams.events]) {
      const before = await held(name);
      for (const _ of ids) {
        agent.publish(subjects.intents('acme'), 'aimed', { reply: `$JS.API.STREAM.PURGE.${name}` });
      }
      // Stored after those before, so their acknowledgements have been sent.
      await jetstream(agent).publish(subjects.intents('acme'), 'after');
      expect(await held(name)).toBe(before);
    }
    for (const name of Object.values(streams)) {
      await expect(manager.streams.purge(name)).rejects.toThrow(/not permitted/);
      await expect(manager.streams.deleteMessage(name, 1)).rejects.toThrow(/not permitted/);
    }
  });
});
