import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { never, once, onTheWire, People } from './approvals-people.js';
import { audit } from './audit.js';
import type { Service } from './service.js';
import { Stack } from './stack.js';

const original = path.join(import.meta.dirname, 'tools', 'effects.approved.tool.yaml');

/** By the name of the tool: what is edited in its file after people have agreed. */
const edits: Readonly<Record<string, readonly [before: string, after: string]>> = {
  'effects.described': ['description: Test tool', 'description: Another tool'],
  'effects.viewed': ['view: "Make {{ref}}', 'view: "Maybe make {{ref}}'],
  'effects.touching': ['impact: "One effect', 'impact: "Two effects'],
  'effects.quorum': ['required: true', 'required: true\n  quorum: 2'],
  'effects.grouped': ['required: true', 'required: true\n  groups: [finance]'],
  'effects.undone': ['undo: delete', 'undo: do not delete'],
  'effects.addressed': ['path: /effects/keyed, body', 'path: /effects/other, body'],
};
const tools = Object.keys(edits);

let tree: string;
let stack: Stack;
let people: People;

const fileOf = (tool: string) => path.join(tree, `${tool}.tool.yaml`);
const policyFile = () => path.join(tree, 'x.policy.yaml');
const policy = (rules: string) => `apiVersion: intendant/policy/v1\nrules:\n${rules}\n`;
const harmless = '  - { name: r, when: "args.ref == \'nobody\'", then: deny, message: no }';

beforeAll(async () => {
  tree = await mkdtemp(path.join(os.tmpdir(), 'intendant-approvals-'));
  const text = await readFile(original, 'utf8');
  for (const tool of tools) await writeFile(fileOf(tool), text.replace('name: effects.approved', `name: ${tool}`));
  await cp(original, fileOf('effects.approved'));
  await writeFile(policyFile(), policy(harmless));
  const services = ['gateway', 'policy', 'outbox-relay', 'reconciler'];
  stack = await Stack.start({ services, toolsDir: tree, env: { INTENDANT_POLICY_DIR: tree } });
  people = new People(stack);
});
afterAll(async () => {
  await stack?.stop();
  await rm(tree, { recursive: true });
});

/** An intent that enough people have agreed to, and that nobody sends yet. */
async function agreed(tool: string): Promise<string> {
  const agent = await stack.agent();
  const { intentId } = await agent.submit(tool, { ref: agent.runId, amount: 7 }, { stepId: tool });
  expect((await people.approve(intentId)).body.status).toBe('authorized');
  return intentId;
}

async function asksAnew(id: string, differs: RegExp): Promise<void> {
  await people.until(id, 'awaiting_approval');
  const card = await people.card(id);
  expect(card.differs.join(', ')).toMatch(differs);
  expect(card.given).toEqual([]);
  expect(await onTheWire(stack, id)).toEqual(never);
}

/** By what was given before, and without anybody being asked. */
async function served(id: string): Promise<void> {
  expect(await stack.settled(id, 30_000)).toBe('committed');
  expect(await onTheWire(stack, id)).toEqual(once);
  const history = await stack.store.intents.history(id);
  expect(history.filter(({ event }) => event.type === 'approved')).toHaveLength(1);
}

describe('what people have agreed to', () => {
  let dispatcher: Service;
  const editedBy = new Map<string, string>();

  describe.each(['a tool file that is edited'])('against %s', () => {
    beforeAll(async () => {
      for (const tool of [...tools, 'effects.approved']) editedBy.set(tool, await agreed(tool));
      for (const [tool, [before, after]] of Object.entries(edits)) {
        const text = await readFile(fileOf(tool), 'utf8');
        expect(text).toContain(before);
        await writeFile(fileOf(tool), text.replace(before, after));
      }
      dispatcher = await stack.launch('dispatcher');
    }, 60_000);

    test.each(tools)('in %s is not sent and asked about anew (T4)', async (tool) => {
      await asksAnew(editedBy.get(tool) ?? '', /the tool file of/);
    });

    test('is sent where its own file is as it was (T4)', async () => {
      await served(editedBy.get('effects.approved') ?? '');
    });

    describe('and then put back', () => {
      beforeAll(async () => {
        await dispatcher.stop();
        for (const [tool, [before, after]] of Object.entries(edits)) {
          const text = await readFile(fileOf(tool), 'utf8');
          await writeFile(fileOf(tool), text.replace(after, before));
        }
        dispatcher = await stack.launch('dispatcher');
      }, 60_000);

      test.each(tools)(
        'in %s serves what it was given for, once (T4)',
        async (tool) => {
          await served(editedBy.get(tool) ?? '');
        },
        40_000,
      );
    });
  });

  describe('against the rest that it is bound to', () => {
    beforeEach(() => dispatcher.stop());

    test('is not sent under another policy, and serves under the one it was given for (T4)', async () => {
      const id = await agreed('effects.approved');
      await writeFile(policyFile(), policy(harmless.replace('nobody', 'somebody')));
      dispatcher = await stack.launch('dispatcher');
      await asksAnew(id, /the policy files/);
      await dispatcher.stop();
      await writeFile(policyFile(), policy(harmless));
      dispatcher = await stack.launch('dispatcher');
      await served(id);
    }, 60_000);

    test('may be agreed to anew, and is sent once by that (T4)', async () => {
      const id = await agreed('effects.approved');
      const text = await readFile(fileOf('effects.approved'), 'utf8');
      await writeFile(fileOf('effects.approved'), text.replace('Make {{ref}}', 'Do make {{ref}}'));
      dispatcher = await stack.launch('dispatcher');
      await people.until(id, 'awaiting_approval');
      const card = await people.card(id);
      expect(card.view).toMatch(/^Do make/);
      expect((await people.approve(id)).status).toBe(200);
      expect(await stack.settled(id)).toBe('committed');
      expect(await onTheWire(stack, id)).toEqual(once);
      await writeFile(fileOf('effects.approved'), text);
    }, 60_000);
  });

  /** Of whoever may write to the database: what is changed, and how it is put back. */
  const forgeries: Readonly<Record<string, readonly [path: string, forged: string]>> = {
    'other arguments': ['{proposal,args,amount}', '700'],
    'another user': ['{proposal,injected,agent_user}', '"mallory"'],
    'another run': ['{proposal,runId}', '"run_other"'],
    'another step': ['{proposal,stepId}', '"other"'],
    'another key': ['{proposal,key}', '"other-key"'],
    'a sandbox call made a real one': ['{proposal,sandbox}', 'true'],
    'a later expiry': ['{request,expiresAt}', '4102444800000'],
    'a lower quorum': ['{request,quorum}', '0'],
    'another view': ['{request,view}', '"Do nothing"'],
    'another impact': ['{request,impact}', '"Nothing"'],
    'self approval': ['{request,selfApproval}', 'true'],
    'another nonce': ['{request,nonce}', '"other"'],
  };

  describe('which somebody has written into', () => {
    const forgers = Object.keys(forgeries);
    const ids = new Map<string, string>();
    const records = new Map<string, string>();
    const typeOf = (what: string) => (forgeries[what]?.[0].startsWith('{request') ? 'approval_requested' : 'recorded');
    const write = (what: string, data: string) =>
      stack.database.query('UPDATE events SET data = $3 WHERE intent_id = $1 AND type = $2 AND version <= 2', [
        ...[ids.get(what), typeOf(what)],
        data,
      ]);

    beforeAll(async () => {
      await dispatcher.stop();
      for (const [what, [at, forged]] of Object.entries(forgeries)) {
        const id = await agreed('effects.approved');
        ids.set(what, id);
        const [row] = await stack.database.query<{ data: string; forged: string }>(
          `SELECT data::text, jsonb_set(data::jsonb, $3::text[], $4::jsonb)::text AS forged
           FROM events WHERE intent_id = $1 AND type = $2`,
          [id, typeOf(what), at, forged],
        );
        if (!row || row.data === row.forged) throw new Error(`there is no ${at}`);
        records.set(what, row.data);
        await write(what, row.forged);
      }
      dispatcher = await stack.launch('dispatcher');
    }, 60_000);

    test.each(forgers)('(%s) is not sent (T4)', async (what) => {
      await asksAnew(
        ids.get(what) ?? '',
        /^(the record of what was asked, or the key that it is sealed with|what the action says)$/,
      );
    });

    test.each(forgers)(
      '(%s) serves when that is taken out (T4)',
      async (what) => {
        if (what === forgers[0]) {
          await dispatcher.stop();
          for (const forged of forgers) await write(forged, records.get(forged) ?? '');
          dispatcher = await stack.launch('dispatcher');
        }
        await served(ids.get(what) ?? '');
      },
      60_000,
    );
  });
});

test('in the end log, read model and ledger agree', async () => {
  expect(await audit(stack)).toEqual([]);
});
