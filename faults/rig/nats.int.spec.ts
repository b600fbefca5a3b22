import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { machineForSpecs } from './machine.spec-helper.js';
import { type NatsOptions, type RigNats, startNats } from './nats.js';
import { NatsClients } from './nats.spec-helper.js';

const machine = machineForSpecs();
afterAll(() => machine.remove());

describe('one nats-server of the rig', () => describeFaults('current'));
describe.skipIf(machine.oldNats === null)('one nats-server 2.9 of the rig', () => describeFaults('old'));

function describeFaults(version: NatsOptions['version']): void {
  let nats: RigNats;
  let clients: NatsClients;
  beforeAll(async () => {
    nats = await startNats({ machine, dir: `${machine.stateDir}/${version}`, kind: 'single', version });
  });
  afterAll(() => nats.close());
  beforeEach(() => {
    clients = new NatsClients(nats);
  });
  afterEach(() => clients.close());

  it('keeps what was stored over kills and restarts, at the same address', async () => {
    await clients.makeStream('KEPT');
    await clients.store('KEPT', 'first');
    await nats.kill(0);
    await expect(clients.connect()).rejects.toThrow();
    await nats.start(0);
    await nats.stop(0);
    await expect(clients.connect()).rejects.toThrow();
    await nats.start(0);
    await nats.start(0);
    expect(await clients.stored('KEPT')).toBe(1);
  });

  it('answers nothing while it is paused, and goes on where it was', async () => {
    const connection = await clients.connect();
    nats.pause(0);
    const asked = connection.rtt();
    expect(await Promise.race([asked, delay(200, 'silent')])).toBe('silent');
    nats.resume(0);
    expect(await asked).toBeGreaterThanOrEqual(0);
  });

  it('can be killed and stopped while it is paused', async () => {
    nats.pause(0);
    await nats.kill(0);
    await nats.start(0);
    nats.pause(0);
    await nats.stop(0);
    await nats.start(0);
    expect(await clients.stored('KEPT')).toBe(1);
  });

  it('loses everything that was stored when it is wiped', async () => {
    await nats.wipe([0]);
    await expect(clients.stored('KEPT')).rejects.toThrow('stream not found');
  });

  it('forgets what was stored after the copy that it is restored from, as often as it is', async () => {
    await clients.makeStream('RESTORED');
    await clients.store('RESTORED', 'before');
    await nats.snapshot();
    for (const late of ['after', 'later']) {
      await clients.store('RESTORED', late);
      expect(await clients.stored('RESTORED')).toBe(2);
      await nats.restore();
      expect(await clients.stored('RESTORED')).toBe(1);
    }
  });

  it('deletes a consumer, and a stream', async () => {
    await clients.makeStream('DELETED');
    await nats.deleteConsumer('DELETED', 'worker');
    expect(await clients.manage((manager) => manager.consumers.list('DELETED').next())).toEqual([]);
    await nats.deleteStream('DELETED');
    await expect(clients.stored('DELETED')).rejects.toThrow('stream not found');
  });

  it('is its own leader, and has no other node', async () => {
    expect(await nats.leaderOf('ANY')).toBe(0);
    expect(() => nats.pause(1)).toThrow('there is no node 1, only 0 to 0');
  });
}

it('says what to do where there is no old nats-server', async () => {
  const without = { ...machine, oldNats: null };
  const started = startNats({ machine: without, dir: machine.stateDir, kind: 'single', version: 'old' });
  await expect(started).rejects.toThrow('INTENDANT_OLD_NATS_BIN');
});

it('says when there is nothing to restore from', async () => {
  const nats = await startNats({ machine, dir: `${machine.stateDir}/bare`, kind: 'single', version: 'current' });
  await expect(nats.restore()).rejects.toThrow('snapshot()');
  await nats.close();
});
