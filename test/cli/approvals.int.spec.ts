import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { Store } from '@intendant/store';
import {
  approvalRequest,
  createDatabase,
  type NatsServer,
  proposal,
  startNats,
  type TestDatabase,
} from '@intendant/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commandLine } from '../../apps/cli/src/cli.spec-helper.js';
import { environment, keys, startGateway, type TestGateway } from '../../apps/gateway/src/gateway.spec-helper.js';

/** Of the shape of a seal. */
const digest = `${'a'.repeat(8)}.${'b'.repeat(43)}`;

describe('the command line of an approver', () => {
  let nats: NatsServer;
  let database: TestDatabase;
  let gateway: TestGateway;
  let store: Store;
  let cli: ReturnType<typeof commandLine>;
  const run = (...args: string[]) => cli.run(['--operator-key', keys.everywhere, '--url', gateway.url, ...args]);

  const ask = async (over: Parameters<typeof approvalRequest>[0] = {}) => {
    const p = proposal({ args: { order_id: 'ord_1\u202e', note: 'x\u001b[31m' } });
    const request = approvalRequest({ digest, ...over });
    await store.door.execute({
      intentId: p.intentId,
      command: { type: 'record', proposal: p, ruling: { allow: 'approved', request } },
    });
    return p.intentId;
  };
  const stateOf = async (id: string) => (await store.intents.load(id))?.state;

  beforeAll(async () => {
    [nats, database] = await Promise.all([startNats(), createDatabase()]);
    gateway = await startGateway(environment(database.url, nats.url));
    store = await Store.open({ url: database.url, name: 'spec' });
    cli = commandLine();
  });
  afterAll(async () => {
    await gateway?.close();
    await store?.close();
    await Promise.all([nats?.stop(), database?.drop()]);
    cli?.remove();
  });

  it('lists what waits, shows the card without what a terminal would obey, and agrees by its digest', async () => {
    const id = await ask();
    const list = await run('approvals', 'list');
    expect(list.out[0]).toMatch(/^INTENT +FOR +GIVEN +EXPIRES +ACTION$/);
    expect(list.out.join('\n')).toContain(id);
    const card = await run('approvals', 'show', id);
    const text = card.out.join('\n');
    expect(text).toMatch(/digest +aaaaaaaa\.b+/);
    expect(text).toMatch(/approve +possible/);
    for (const each of ['\u001b', '\u202e']) expect(text).not.toContain(each);
    const stale = await run('approvals', 'approve', id, '--digest', `${'c'.repeat(8)}.${'b'.repeat(43)}`);
    expect(stale).toMatchObject({ status: 1, err: [expect.stringContaining('has changed since you saw it')] });
    expect(await stateOf(id)).toBe('awaiting_approval');
    expect((await run('approvals', 'approve', id, '--digest', digest)).status).toBe(0);
    expect(await stateOf(id)).toBe('authorized');
    expect((await run('approvals', 'withdraw', id)).status).toBe(0);
    expect(await stateOf(id)).toBe('awaiting_approval');
    expect((await run('approvals', 'refuse', id, '--reason', 'not this one')).status).toBe(0);
    expect(await stateOf(id)).toBe('denied');
  });

  it('needs a digest to agree and a reason to refuse', async () => {
    expect((await run('approvals', 'approve', 'x')).status).toBe(2);
    expect((await run('approvals', 'refuse', 'x')).status).toBe(2);
  });

  it.each(['a list', 'the message of the API'])(
    'decides about many from a file with %s, and fails where one does',
    async (how) => {
      const [one, two] = [await ask(), await ask()];
      const decisions = [
        { id: one, decision: 'approve', digest },
        { id: two, decision: 'refuse', digest, reason: 'no' },
        { id: '01JD8Q4Y6V2N7XK3T5W9ZB1CEF', decision: 'approve', digest },
      ];
      const file = path.join(cli.directory, 'decisions.json');
      writeFileSync(file, JSON.stringify(how === 'a list' ? decisions : { decisions }));
      const { status, out } = await run('approvals', 'decide', file);
      expect(status).toBe(1);
      expect(out).toEqual([
        `intent ${one} is authorized now`,
        `intent ${two} is denied now`,
        expect.stringContaining('There is no such intent'),
      ]);
      expect([await stateOf(one), await stateOf(two)]).toEqual(['authorized', 'denied']);
    },
  );

  it('says what is wrong with a file', async () => {
    const nowhere = await run('approvals', 'decide', 'nowhere.json');
    expect(nowhere).toMatchObject({ status: 2, err: [expect.stringContaining('nowhere.json cannot be read')] });
    const file = path.join(cli.directory, 'bad.json');
    writeFileSync(file, '{');
    expect(await run('approvals', 'decide', file)).toMatchObject({
      status: 2,
      err: [expect.stringContaining('is not JSON')],
    });
  });
});
