import { mkdtempSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Installation, Role, Topology } from './installation.js';
import { machineForSpecs } from './machine.spec-helper.js';
import { root } from './root.js';
import { startInstallation } from './start-installation.js';
import { submitter } from './submitter.spec-helper.js';

// Services start in some of these, on a machine that other specs keep busy.
vi.setConfig({ testTimeout: 90_000 });

const machine = machineForSpecs();
const toolsDir = path.join(root, 'faults', 'tools');

function topology(over: Partial<Topology> = {}, replicas: Partial<Record<Role, number>> = {}): Topology {
  return {
    replicas: { gateway: 1, policy: 1, 'outbox-relay': 1, dispatcher: 1, reconciler: 1, ...replicas },
    nats: 'single',
    natsVersion: 'current',
    clockOffsetsMs: {},
    faultPoints: {},
    ...over,
  };
}

function start(over: Partial<Topology> = {}, replicas: Partial<Record<Role, number>> = {}): Promise<Installation> {
  const dir = mkdtempSync(path.join(machine.stateDir, 'installation-'));
  return startInstallation({ machine, topology: topology(over, replicas), dir, toolsDir });
}

/** The process of a service with one replica, found as a stranger would who wants to kill it. */
function pidOf(role: Role): number {
  const children = readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').split(' ').filter(Boolean);
  const pid = children.find((each) => readFileSync(`/proc/${each}/cmdline`, 'utf8').includes(`/apps/${role}/`));
  return Number(pid ?? expect.fail(`there is no process of ${role}`));
}

afterAll(() => machine.remove());

describe('a small installation', () => {
  let installation: Installation;
  beforeAll(async () => {
    installation = await start();
  }, 120_000);
  afterAll(() => installation?.close());

  it('takes a submit, has its effect in the ledger, and tells all of it when it is collected', async () => {
    const submit = await submitter(installation);
    const { status, body } = await submit('rig.keyed', 'first');
    expect({ status, state: body.status }).toEqual({ status: 200, state: 'committed' });

    const collected = await installation.collect();
    const [request, effect] = collected.ledger;
    const { key } = collected.database.intents[0] ?? {};
    expect(request).toMatchObject({ kind: 'request', key });
    expect(effect).toMatchObject({ kind: 'effect', key });
    const started = collected.database.events.find(({ type }) => type === 'attempt_started');
    expect(started?.committedAt).toBeLessThan(request?.at ?? 0);
    const { attemptId } = started?.data ?? {};
    const left = collected.sent.filter((entry) => entry.attemptId === attemptId).map(({ at }) => at);
    expect(left).toEqual([expect.any(Number)]);
    expect(left?.[0]).toBeLessThanOrEqual((request?.at ?? 0) + 1);
    expect(collected.bus.published).toMatchObject([
      { msgId: `${body.intentId}-4`, type: 'intendant.intent.committed', version: 4, stored: true, heard: 1 },
    ]);
    expect(collected.bus.consumers).toMatchObject([
      { name: 'policy', ackPending: 0, pending: 0 },
      { name: 'dispatcher', ackPending: 0, pending: 0 },
    ]);
    expect(collected.processes).toHaveLength(5);
    for (const each of collected.processes) expect(each).toMatchObject({ expected: 'running', crashes: 0 });
  });

  const faultsOf = (kind: string) =>
    installation.faults.entries.filter((entry) => entry.kind === kind).map(({ phase, target }) => `${phase} ${target}`);

  it('keeps a killed service dead until it is started, on the same port', async () => {
    const { processes } = installation;
    await processes.kill('gateway/0');
    expect(processes.state('gateway/0')).toBe('stopped');
    await expect(submitter(installation)).rejects.toThrow('fetch failed');
    await processes.kill('gateway/0');
    await processes.start('gateway/0');
    const submit = await submitter(installation);
    expect((await submit('rig.read', 'after the kill')).body.status).toBe('committed');
    expect(faultsOf('kill')).toEqual(['begin gateway/0', 'begin gateway/0', 'end gateway/0']);
    expect(installation.faults.entries.find(({ happened }) => happened === false)?.detail).toEqual({
      why: 'it is stopped',
    });
  });

  it('stops a service in order', async () => {
    const { processes } = installation;
    await processes.stop('policy/0');
    expect(processes.state('policy/0')).toBe('stopped');
    await processes.start('policy/0');
    expect(faultsOf('stop')).toEqual(['begin policy/0', 'end policy/0']);
  });

  it('pauses and resumes a service, and blocks its event loop', async () => {
    const { processes, gatewayUrls } = installation;
    const answers = async (withinMs: number) => {
      const signal = AbortSignal.timeout(withinMs);
      return fetch(`${gatewayUrls[0]}/livez`, { signal }).then(
        () => true,
        () => false,
      );
    };
    processes.pause('gateway/0');
    await expect.poll(() => processes.state('gateway/0')).toBe('paused');
    expect(await answers(300)).toBe(false);
    processes.resume('gateway/0');
    expect(await answers(10_000)).toBe(true);
    const pid = pidOf('gateway');
    processes.block('gateway/0', 1_500);
    await expect.poll(() => answers(300)).toBe(false);
    expect(await answers(10_000)).toBe(true);
    expect(pidOf('gateway')).toBe(pid);
    expect([...faultsOf('pause'), ...faultsOf('block').slice(0, 1)]).toEqual([
      'begin gateway/0',
      'end gateway/0',
      'begin gateway/0',
    ]);
  });

  it('breaks a service at a fault point, and heals it', async () => {
    const { processes } = installation;
    await processes.kill('dispatcher/0');
    await processes.start('dispatcher/0', 'dispatcher.after_send:1:kill');
    const submit = await submitter(installation);
    const answered = submit('rig.keyed', 'killed after it was sent');
    expect(await processes.struck('dispatcher/0', 15_000)).toBe('ended');
    await processes.start('dispatcher/0', 'dispatcher.after_start:1:pause');
    const paused = submit('rig.keyonly', 'paused before it is sent');
    expect(await processes.struck('dispatcher/0', 15_000)).toBe('paused');
    expect(processes.state('dispatcher/0')).toBe('paused');
    await installation.heal();
    expect((await answered).body.status).toBe('committed');
    expect((await paused).body.status).toBe('committed');
    expect(faultsOf('fault_point')).toEqual([
      'begin dispatcher/0',
      'end dispatcher/0',
      'begin dispatcher/0',
      'end dispatcher/0',
    ]);
    const { processes: found } = await installation.collect();
    expect(found.map(({ crashes }) => crashes)).toEqual([0, 0, 0, 0, 0]);
  });

  it('counts an end that nobody ordered as a crash, and starts the service again', async () => {
    const { processes } = installation;
    process.kill(pidOf('outbox-relay'), 'SIGKILL');
    await expect
      .poll(async () => (await installation.collect()).processes.find(({ name }) => name === 'outbox-relay/0'))
      .toMatchObject({ crashes: 1 });
    await installation.heal();
    expect(processes.state('outbox-relay/0')).toBe('running');
  });

  it('cuts the answer of the upstream away from a dispatcher, and nothing from anybody else', async () => {
    const submit = await submitter(installation);
    const { wires } = installation;
    const cut = wires.cut('dispatcher/0', 'upstream', { direction: 'to_client', after: 'cut me', bytes: 0 }, 10_000);
    const { body } = await submit('rig.keyed', 'cut me');
    expect(await cut).toBe(true);
    expect(body.status).toBe('committed');
    const { database, ledger } = await installation.collect();
    const types = database.events.filter(({ intentId }) => intentId === body.intentId).map(({ type }) => type);
    expect(types).toContain('outcome_unknown');
    const { key } = database.intents.find(({ id }) => id === body.intentId) ?? {};
    expect(ledger.filter((line) => line.key === key && line.kind === 'effect')).toHaveLength(1);
    expect(faultsOf('cut')).toEqual(['begin dispatcher/0>upstream']);
  });

  it('tells of a cut that never met its bytes', async () => {
    const { wires, faults } = installation;
    const order = { direction: 'to_client', after: 'never said', bytes: 0 } as const;
    expect(await wires.cut('dispatcher/0', 'nats', order, 50)).toBe(false);
    expect(faults.entries.at(-1)).toMatchObject({ kind: 'cut', happened: false });
  });

  it('works behind slow, sliced, half-open and parted wires once they are mended', async () => {
    const { wires } = installation;
    const submit = await submitter(installation);
    wires.slice('policy/0', 'postgres', 7);
    wires.delay('outbox-relay/0', 'nats', 50);
    wires.partition('reconciler/0', 'postgres');
    expect((await submit('rig.read', 'over slow wires')).body.status).toBe('committed');
    wires.blackhole('dispatcher/0', 'upstream', 'to_client');
    const waiting = submit('rig.searched', 'half open');
    await expect
      .poll(async () => (await installation.upstream.ledger()).at(-1)?.path, { timeout: 10_000 })
      .toBe('/plain/searched');
    await installation.heal();
    expect((await waiting).body.status).toBe('committed');
    expect([...faultsOf('slice'), ...faultsOf('delay'), ...faultsOf('partition'), ...faultsOf('blackhole')]).toEqual([
      'begin policy/0>postgres',
      'end policy/0>postgres',
      'begin outbox-relay/0>nats',
      'end outbox-relay/0>nats',
      'begin reconciler/0>postgres',
      'end reconciler/0>postgres',
      'begin dispatcher/0>upstream',
      'end dispatcher/0>upstream',
    ]);
  });

  it('orders the upstream to misbehave, and to behave', async () => {
    const { upstream } = installation;
    await upstream.behave({ match: { path: '/plain/blind' }, times: 'always', behaviour: { then: 'status:500' } });
    const submit = await submitter(installation);
    expect((await submit('rig.blind', 'answered 500')).body.status).toBe('dead_lettered');
    await upstream.behaveWell();
    expect((await submit('rig.blind', 'answered well')).body.status).toBe('committed');
  });

  it('mends PostgreSQL and NATS', async () => {
    const { postgres, nats } = installation;
    const submit = await submitter(installation);
    await postgres.crash();
    nats.pause(0);
    await installation.heal();
    const after = await submit('rig.keyed', 'after both were down');
    expect(after.body.status).toBe('committed');
    expect([...faultsOf('postgres.crash'), ...faultsOf('nats.pause')]).toEqual([
      'begin postgres',
      'end postgres',
      'begin nats/0',
      'end nats/0',
    ]);
  });

  it('has seen no crash but the one that was caused', async () => {
    const { processes } = await installation.collect();
    const crashed = processes.filter(({ crashes }) => crashes > 0).map(({ name }) => name);
    expect(crashed.filter((name) => name !== 'outbox-relay/0')).toEqual([]);
  });
});
