import { startNats } from '@intendant/testing';
import type { Msg, NatsConnection } from '@nats-io/transport-node';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Bus } from './bus.js';
import { connectBus } from './connect-bus.js';
import { BusUnavailable, NoStream } from './errors.js';
import { Publisher } from './publisher.js';

describe('Publisher', () => {
  let nats: Awaited<ReturnType<typeof startNats>>;
  let bus: Bus;
  let publisher: Publisher;
  const subject = 'intendant.work.spec';
  const limitMs = 200;
  const connected = () => true;
  const messages = (...ids: string[]) => ids.map((msgId) => ({ subject, payload: msgId, msgId }));

  beforeEach(async () => {
    nats = await startNats();
    bus = await connectBus({ url: nats.url, name: 'spec' });
    publisher = new Publisher(bus.connection, '_INBOX_intendant', limitMs);
  });
  afterEach(async () => {
    await bus.close();
    await nats.stop();
  });

  /** Somebody who takes messages as a stream would, and acknowledges when told to. */
  function slowStream(connection: NatsConnection, name: string): Msg[] {
    const taken: Msg[] = [];
    connection.subscribe(name, { callback: (_, message) => void taken.push(message) });
    return taken;
  }
  const acknowledge = (message: Msg | undefined) => message?.respond(JSON.stringify({ stream: 'SLOW', seq: 1 }));

  it('has nothing to wait for in an empty list', async () => {
    expect(await publisher.publish([], connected)).toEqual({ published: [], failed: [] });
    expect(await publisher.publish([], () => false)).toEqual({ published: [], failed: [] });
  });

  it('hears the acknowledgements of batches at the same time apart', async () => {
    const results = await Promise.all([
      publisher.publish(messages('a', 'b'), connected),
      publisher.publish([{ subject: 'nowhere.at.all', payload: '', msgId: 'homeless' }], connected),
      publisher.publish(messages('c'), connected),
    ]);
    expect(results).toEqual([
      { published: ['a', 'b'], failed: [] },
      { published: [], failed: [{ msgId: 'homeless', error: expect.any(NoStream) }] },
      { published: ['c'], failed: [] },
    ]);
  });

  it('tells two messages with one id apart, of which the server keeps one', async () => {
    const result = await publisher.publish(messages('twin', 'twin'), connected);
    expect(result).toEqual({ published: ['twin', 'twin'], failed: [] });
  });

  it('says that a message failed whose acknowledgement never comes, and that its neighbours did not', async () => {
    slowStream(bus.connection, 'slow.subject');
    const asked = performance.now();
    const silent = { subject: 'slow.subject', payload: '', msgId: 'silent' };
    const result = await publisher.publish([...messages('a'), silent, ...messages('b')], connected);
    expect(performance.now() - asked).toBeGreaterThanOrEqual(limitMs - 1);
    expect(result.published).toEqual(['a', 'b']);
    expect(result.failed).toEqual([{ msgId: 'silent', error: expect.any(BusUnavailable) }]);
    expect(result.failed[0]?.error.message).toContain(`${limitMs} ms`);
  });

  it('is not disturbed by an acknowledgement that comes when nobody waits for it', async () => {
    const taken = slowStream(bus.connection, 'slow.subject');
    const silent = { subject: 'slow.subject', payload: '', msgId: 'silent' };
    const first = await publisher.publish([silent], connected);
    const second = publisher.publish([silent, ...messages('a')], connected);
    // What the server has heard by now includes both.
    await bus.flush();
    acknowledge(taken[0]);
    acknowledge(taken[0]);
    await bus.flush();
    expect(first).toEqual({ published: [], failed: [{ msgId: 'silent', error: expect.any(BusUnavailable) }] });
    expect(await second, 'the late one was for the first try').toMatchObject({
      published: ['a'],
      failed: [{ msgId: 'silent' }],
    });
    expect(await publisher.publish(messages('b'), connected)).toEqual({ published: ['b'], failed: [] });
  });

  it('counts an acknowledgement that comes twice once', async () => {
    const taken = slowStream(bus.connection, 'slow.subject');
    const slow = (msgId: string) => ({ subject: 'slow.subject', payload: '', msgId });
    const publishing = publisher.publish([slow('one'), slow('two')], connected);
    await bus.flush();
    acknowledge(taken[0]);
    acknowledge(taken[0]);
    await bus.flush();
    acknowledge(taken[1]);
    expect(await publishing).toEqual({ published: ['one', 'two'], failed: [] });
  });

  it.each([
    ['an error', JSON.stringify({ error: { code: 503, description: 'insufficient storage' } }), /insufficient storage/],
    ['no stream', '{}', /without a stream/],
    ['something else', 'not JSON', /cannot be read/],
  ])('says that a message failed whose acknowledgement is %s', async (_, answer, message) => {
    bus.connection.subscribe('odd.subject', { callback: (_error, sent) => void sent.respond(answer) });
    const result = await publisher.publish([{ subject: 'odd.subject', payload: '', msgId: 'odd' }], connected);
    expect(result.published).toEqual([]);
    expect(result.failed).toEqual([
      { msgId: 'odd', error: expect.objectContaining({ message: expect.stringMatching(message) }) },
    ]);
  });

  it('sends nothing while the server is away, and does not wait', async () => {
    const taken = slowStream(bus.connection, 'slow.subject');
    const { published, failed } = await publisher.publish(
      [{ subject: 'slow.subject', payload: '', msgId: 'unsent' }, ...messages('a')],
      () => false,
    );
    expect(published).toEqual([]);
    expect(failed.map(({ msgId }) => msgId)).toEqual(['unsent', 'a']);
    await bus.flush();
    expect(taken).toEqual([]);
  });

  it('marks public events, and only them, as CloudEvents in structured mode', async () => {
    const event = 'intendant.events.acme.run.intent.committed';
    const taken = slowStream(bus.connection, 'intendant.>');
    await publisher.publish([...messages('ring'), { subject: event, payload: '{}', msgId: 'event' }], connected);
    const told = taken.map(({ subject, headers }) => [
      subject,
      headers?.get('Nats-Msg-Id'),
      headers?.get('Content-Type'),
    ]);
    expect(told).toEqual([
      [subject, 'ring', ''],
      [event, 'event', 'application/cloudevents+json'],
    ]);
  });

  it('says that everything failed on a connection that is closed', async () => {
    await bus.close();
    const { published, failed } = await publisher.publish(messages('a', 'b'), connected);
    expect(published).toEqual([]);
    expect(failed.map(({ msgId }) => msgId)).toEqual(['a', 'b']);
  });
});
