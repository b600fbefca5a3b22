import { expect, it } from 'vitest';
import { RigFaultLog } from './fault-log.js';
import type { BreakableNats } from './installation.js';
import { LoggedNats } from './rig-servers.js';

/** One node that is ended by a wipe and does not get ready in time, as on a machine that is very busy. */
function slowNode(started: number[]): BreakableNats {
  const tooSlow = async () => {
    throw new Error('nats-0 was not ready within 45 s');
  };
  const unused = () => {
    throw new Error('not part of this test');
  };
  return {
    ...{ nodes: 1, wipe: tooSlow, restore: tooSlow, snapshot: unused, kill: unused, stop: unused, pause: unused },
    ...{ resume: unused, deleteConsumer: unused, deleteStream: unused, leaderOf: unused },
    start: async (node) => void started.push(node),
  };
}

it.each(['wipe', 'restore'] as const)('starts a node that %s had ended and could not start', async (order) => {
  const started: number[] = [];
  const faults = new RigFaultLog();
  const nats = new LoggedNats(slowNode(started), faults);
  await expect(order === 'wipe' ? nats.wipe([0]) : nats.restore()).rejects.toThrow('not ready');
  await nats.mend();
  expect(started).toEqual([0]);
  expect(faults.entries.map(({ kind, phase }) => `${phase} ${kind}`)).toEqual([
    `begin nats.${order}`,
    `end nats.${order}`,
  ]);
});
