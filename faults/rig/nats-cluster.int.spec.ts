import { setTimeout as delay } from 'node:timers/promises';
import { connectBus } from '@intendant/bus';
import { jetstream } from '@nats-io/jetstream';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { machineForSpecs } from './machine.spec-helper.js';
import { type NatsOptions, type RigNats, startNats } from './nats.js';
import { NatsClients } from './nats.spec-helper.js';

const machine = machineForSpecs();
afterAll(() => machine.remove());

// Elections take a cluster up to nine seconds, and no setting makes them shorter.
const slow = { timeout: 120_000 };

/** Elections of three nodes are slow and need a quiet machine: `npm test` has clusters in random rounds only. */
const full = process.env['FAULTS_FULL'] === '1';

describe.runIf(full)('a cluster of the rig', slow, () => describeCluster('current'));
describe.runIf(full && machine.oldNats !== null)('a cluster of nats-server 2.9', slow, () => describeCluster('old'));

function describeCluster(version: NatsOptions['version']): void {
  let nats: RigNats;
  let clients: NatsClients;
  beforeAll(async () => {
    nats = await startNats({ machine, dir: `${machine.stateDir}/${version}`, kind: 'cluster', version });
  });
  afterAll(() => nats.close());
  beforeEach(() => {
    clients = new NatsClients(nats);
  });
  afterEach(() => clients.close());

  const replicasOf = (stream: string) =>
    clients.manage(async (manager) => (await manager.streams.info(stream)).config.num_replicas);

  it('tells clients of no other address', async () => {
    for (const [node, port] of nats.ports.entries()) {
      const { info } = await clients.connect([node]);
      expect(info).toMatchObject({ port, server_name: `nats-${node}` });
      expect(info?.connect_urls ?? []).toEqual([]);
    }
  });

  it('keeps the streams of the services on all three nodes, as their environment asks for', async () => {
    const replicas = Number(nats.serviceEnvironment['INTENDANT_STREAM_REPLICAS']);
    const bus = await connectBus({ url: nats.urls.join(','), name: 'spec', replicas });
    expect(await replicasOf('INTENDANT_INTENTS')).toBe(3);
    await bus.close();
    // An operator may have asked for more replicas than a service knows of.
    await (await connectBus({ url: nats.urls.join(','), name: 'spec' })).close();
  });

  it('goes on when the node that leads a stream is killed, and names the next', async () => {
    await clients.makeStream('LED');
    await clients.store('LED', 'before');
    const leader = await nats.leaderOf('LED');
    await nats.kill(leader);
    await expect(clients.connect([leader])).rejects.toThrow();
    let next = leader;
    // Nobody tells when the others have elected one.
    while (next === leader) next = await nats.leaderOf('LED').catch(() => leader);
    await clients.store('LED', 'after');
    await nats.start(leader);
    expect(await clients.stored('LED')).toBe(2);
  });

  // The two versions do not differ in these, and each costs an election.
  if (version === 'old') return;

  it('gives a node that was wiped everything back from the others', async () => {
    const wiped = (await nats.leaderOf('LED')) === 0 ? 1 : 0;
    await nats.wipe([wiped]);
    const caughtUp = () =>
      clients.manage(async (manager) => {
        const { cluster } = await manager.streams.info('LED');
        return cluster?.replicas?.every(({ current }) => current) ?? false;
      });
    while (!(await caughtUp().catch(() => false))) await delay(50);
    expect(await clients.stored('LED')).toBe(2);
  });

  it('stores nothing without a majority, and goes on when it has one again', async () => {
    const follower = ((await nats.leaderOf('LED')) + 1) % 3;
    const others = [0, 1, 2].filter((node) => node !== follower);
    await Promise.all(others.map((node) => nats.kill(node)));
    const alone = jetstream(await clients.connect([follower]), { timeout: 500 });
    await expect(alone.publish('LED.x')).rejects.toThrow();
    await Promise.all(others.map((node) => nats.start(node)));
    await expect
      .poll(
        () =>
          clients.store('LED', 'again').then(
            () => true,
            () => false,
          ),
        { timeout: 60_000 },
      )
      .toBe(true);
    expect(await clients.stored('LED')).toBe(3);
  });

  it('is set back to the copy as a whole', async () => {
    await nats.snapshot();
    await clients.store('LED', 'lost');
    await nats.restore();
    await expect.poll(() => clients.stored('LED').catch(() => null), { timeout: 60_000 }).toBe(3);
  });

  it('has lost everything when all nodes are wiped', async () => {
    await nats.wipe([0, 1, 2]);
    await expect(clients.stored('LED')).rejects.toThrow('stream not found');
    await expect(replicasOf('INTENDANT_INTENTS')).rejects.toThrow('stream not found');
  });
}
