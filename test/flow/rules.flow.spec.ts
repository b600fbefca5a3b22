import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commandLine } from '../../apps/cli/src/cli.spec-helper.js';
import { operatorKey, Stack } from './stack.js';

const tools = ['effects.keyed'];
const noBatches = {
  name: 'no-batches',
  tools,
  when: "session.profile == 'batch'",
  then: 'deny',
  message: 'Not for batches',
};
const largeAsks = {
  name: 'large-asks',
  tools,
  when: 'has(args.amount) && args.amount > 1000',
  then: 'require_approval',
  message: 'Over 1000',
};
const noRepeat = {
  name: 'no-repeat',
  tools,
  when: 'run.history.exists(h, h.args.ref == args.ref)',
  then: 'deny',
  message: 'Once for each',
};
const crowd = {
  name: 'crowd',
  when: "session.tenant == 'crowd' && size(run.history) >= 10",
  then: 'deny',
  message: 'Ten are enough',
};
const limit = { name: 'limit', tools, when: 'args.amount > 100', then: 'deny', message: 'At most 100' };
const third = {
  name: 'third',
  tools,
  when: "size(run.history.filter(h, h.tool == tool.name && h.state == 'committed')) >= 2 && size(run.denied) == 0",
  then: 'deny',
  message: 'Two are enough',
};

describe('trying rules before they count', () => {
  let stack: Stack;
  let cli: ReturnType<typeof commandLine>;
  let directory: string;
  let begun: number;
  const ids: Record<string, string> = {};

  /** A folder with these rules for everybody. */
  const folder = (name: string, content: object) => {
    mkdirSync(path.join(directory, name));
    const text = JSON.stringify({ apiVersion: 'intendant/policy/v1', ...content }, null, 1);
    writeFileSync(path.join(directory, name, 'all.policy.yaml'), text);
    return path.join(directory, name);
  };
  const json = async (candidate: string, ...more: string[]) => {
    const { status, out, err } = await cli.run([
      'rules',
      'test',
      candidate,
      '--since',
      '1h',
      '--tenant',
      'acme',
      '--json',
      ...more,
    ]);
    expect([err, out.length]).toEqual([[], 1]);
    return { status, ...JSON.parse(out.join()) };
  };

  beforeAll(async () => {
    directory = mkdtempSync(path.join(os.tmpdir(), 'intendant-rules-'));
    const policies = folder('deciding', { rules: [noBatches, largeAsks, noRepeat, crowd] });
    stack = await Stack.start({ env: { INTENDANT_POLICY_DIR: policies } });
    const { INTENDANT_TOOLS_DIR, INTENDANT_POLICY_DIR, DEMO_UPSTREAM_URL, SECOND_UPSTREAM_URL } = stack.environment();
    const env = { INTENDANT_TOOLS_DIR, INTENDANT_POLICY_DIR, DEMO_UPSTREAM_URL, SECOND_UPSTREAM_URL };
    cli = commandLine({
      ...(env as Record<string, string>),
      INTENDANT_URL: stack.url,
      INTENDANT_OPERATOR_KEY: operatorKey,
    });
    begun = Date.now();
    const [agent, batch, stranger] = [
      await stack.agent(),
      await stack.agent({ profile: 'batch' }),
      await stack.agent({ permissions: ['nothing'] }),
    ];
    // One after the other: what a rule sees of the run is what had ended before.
    for (const amount of [5, 50, 500]) {
      const { intentId } = await agent.submit('effects.keyed', { ref: `r${amount}`, amount }, { wait: '20s' });
      ids[amount] = intentId;
      await stack.settled(intentId);
    }
    const asked = await agent.submit('effects.keyed', { ref: 'r5000', amount: 5_000 }, { wait: '1s' });
    expect(asked.status).toBe('awaiting_approval');
    ids['5000'] = asked.intentId;
    ids['repeat'] = (await agent.submit('effects.keyed', { ref: 'r5', amount: 6 })).intentId;
    ids['batch'] = (await batch.submit('effects.keyed', { ref: 'b', amount: 5 })).intentId;
    ids['stranger'] = (await stranger.submit('effects.keyed', { ref: 's', amount: 500 })).intentId;
  });
  afterAll(async () => {
    await stack?.stop();
    cli?.remove();
    rmSync(directory, { recursive: true });
  });

  it('finds that the rules which decided would decide so again', async () => {
    const { INTENDANT_POLICY_DIR: deciding = '' } = stack.environment();
    const found = await json(deciding, '--fail-on-change');
    expect(found).toMatchObject({
      status: 0,
      totals: { decisions: 7, changed: 0, unchanged: 6, notByRules: 1, unknowable: 0 },
      changes: [],
      unknowable: [],
    });
    const [listed] = (
      await stack.operator().get<{ items: [{ reasons: { policy: string } }] }>('/v1/decisions?since=1h')
    ).body.items;
    expect(listed.reasons.policy).toBe(found.policy);
  });

  it('shows what a candidate would deny and allow, by rule, with the intents', async () => {
    const candidate = folder('limited', { rules: [limit] });
    const { changes, totals, status } = await json(candidate);
    expect([status, totals]).toEqual([0, { decisions: 7, changed: 4, unchanged: 2, notByRules: 1, unknowable: 0 }]);
    const group = { count: 1, error: null };
    expect(changes).toHaveLength(4);
    expect(changes).toEqual(
      expect.arrayContaining([
        { ...group, from: 'allow', to: 'deny', rule: 'limit', before: null, intents: [ids['500']] },
        { ...group, from: 'require_approval', to: 'deny', rule: 'limit', before: 'large-asks', intents: [ids['5000']] },
        { ...group, from: 'deny', to: 'allow', rule: null, before: 'no-batches', intents: [ids['batch']] },
        { ...group, from: 'deny', to: 'allow', rule: null, before: 'no-repeat', intents: [ids['repeat']] },
      ]),
    );
    expect((await json(candidate, '--fail-on-change')).status).toBe(1);
    expect((await json(candidate, '--tool', 'orders.get')).totals.decisions).toBe(0);
    expect((await json(candidate, '--tool', 'effects.keyed', '--tenant', 'acme')).totals.decisions).toBe(7);
    expect((await json(candidate, '--tenant', 'other')).totals.decisions).toBe(0);
  });

  it('counts what would wait for a person, and what would not any more', async () => {
    const group = { count: 1, error: null };
    const smaller = { ...largeAsks, name: 'smaller-asks', when: 'has(args.amount) && args.amount == 500' };
    const { changes, totals } = await json(folder('smaller', { rules: [noBatches, smaller, noRepeat] }));
    expect(totals).toEqual({ decisions: 7, changed: 2, unchanged: 4, notByRules: 1, unknowable: 0 });
    expect(changes).toEqual(
      expect.arrayContaining([
        { ...group, from: 'allow', to: 'require_approval', rule: 'smaller-asks', before: null, intents: [ids['500']] },
        { ...group, from: 'require_approval', to: 'allow', rule: null, before: 'large-asks', intents: [ids['5000']] },
      ]),
    );
  });

  it('shows the same to people', async () => {
    const { status, out } = await cli.run([
      'rules',
      'test',
      path.join(directory, 'limited'),
      '--since',
      '1h',
      '--tenant',
      'acme',
    ]);
    expect(status).toBe(0);
    expect(out[0]).toMatch(/^CHANGE +RULE +BEFORE +COUNT +INTENTS$/);
    expect(out).toContainEqual(expect.stringMatching(new RegExp(`^allow → deny +limit +- +1 +${ids['500']}$`)));
    expect(out.at(-1)).toMatch(
      /^7 decisions since \d{4}-.+Z, policy [0-9a-f]{16}: 4 would change, 2 would not, 1 were not made by rules, 0 are unknowable$/,
    );
  });

  it('rebuilds what the run had done at the moment of each decision', async () => {
    const candidate = folder('counted', { rules: [noBatches, largeAsks, noRepeat, third] });
    const { changes, totals } = await json(candidate);
    expect(totals).toEqual({ decisions: 7, changed: 2, unchanged: 4, notByRules: 1, unknowable: 0 });
    expect(changes.map(({ rule, intents }: { rule: string; intents: string[] }) => [rule, ...intents])).toEqual([
      ['third', ids['500']],
      ['third', ids['5000']],
    ]);
  });

  it('knows what a run had done while its calls were under way, but for what was recorded at one moment', async () => {
    const agent = await stack.agent({ tenant: 'crowd' });
    const submit = (ref: string) => agent.submit('effects.keyed', { ref, amount: 1 });
    const answers = [];
    for (let n = 0; n < 8; n += 1) answers.push(await submit(`one-${n}`));
    answers.push(...(await Promise.all(Array.from({ length: 8 }, (_, n) => submit(`many-${n}`)))));
    expect(answers.filter(({ status }) => status === 'denied')).toHaveLength(6);
    const { INTENDANT_POLICY_DIR: deciding = '' } = stack.environment();
    const { totals, unknowable } = await json(deciding, '--tenant', 'crowd');
    expect(totals).toMatchObject({ decisions: 16, changed: 0, unchanged: 16 - totals.unknowable });
    expect(totals.unchanged, 'those that came one by one').toBeGreaterThanOrEqual(6);
    for (const { why } of unknowable) expect(why).toBe('same_moment');
    const fewer = folder('fewer', { rules: [{ ...crowd, when: crowd.when.replace('10', '3') }] });
    const found = await json(fewer, '--tenant', 'crowd');
    expect(found.changes).toMatchObject([{ from: 'allow', to: 'deny', rule: 'crowd' }]);
    const late = answers.slice(3, 8).map(({ intentId }) => intentId);
    for (const intentId of found.changes[0].intents) expect(late).toContain(intentId);
  });

  it('does not guess where the run began before what it reads', async () => {
    const argv = [
      'rules',
      'test',
      path.join(directory, 'counted'),
      '--tenant',
      'acme',
      '--since',
      new Date(begun - 5_000).toISOString(),
    ];
    const { totals, unknowable } = JSON.parse((await cli.run([...argv, '--json'])).out.join());
    // Of the batch it is known without its history.
    expect(totals).toEqual({ decisions: 7, changed: 0, unchanged: 1, notByRules: 1, unknowable: 5 });
    const intents = ['5', '50', '500', '5000', 'repeat'].map((name) => ids[name]);
    expect(unknowable).toEqual([{ why: 'history_cut', rule: 'no-repeat', count: 5, intents }]);
    const { out } = await cli.run(argv);
    expect(out).toContainEqual(
      expect.stringMatching(/^the run began before the decisions that were read +no-repeat +5 /),
    );
  });

  it('tries the restrictions of a service key, and names a rule that cannot be evaluated', async () => {
    const restrict = [{ tools, allow: 'args.amount <= 50', message: 'At most 50' }];
    const odd = { name: 'odd', tools, when: 'args.amuont == 5', then: 'allow' };
    const candidate = folder('restricted', { serviceKeys: { flow: { restrict } }, rules: [noBatches, noRepeat, odd] });
    const { changes, totals } = await json(candidate);
    expect(totals).toMatchObject({ changed: 4, unchanged: 2 });
    expect(changes).toEqual([
      expect.objectContaining({ from: 'allow', rule: 'odd', count: 2, error: 'field not found: amuont' }),
      expect.objectContaining({ from: 'allow', to: 'deny', rule: 'flow.restrict.0', intents: [ids['500']] }),
      expect.objectContaining({
        from: 'require_approval',
        to: 'deny',
        rule: 'flow.restrict.0',
        intents: [ids['5000']],
      }),
    ]);
    const { out } = await cli.run(['rules', 'test', candidate, '--since', '1h', '--tenant', 'acme']);
    expect(out).toContain(`odd cannot be evaluated for ${ids['5']}: field not found: amuont`);
  });

  it('prints the mistakes of a candidate and judges nothing', async () => {
    const candidate = folder('wrong', { rules: [{ ...limit, tools: ['effects.kyed'] }] });
    const { status, out } = await cli.run(['rules', 'test', candidate]);
    expect([status, out]).toEqual([
      1,
      [expect.stringMatching(/all\.policy\.yaml:\d+ rules\.0\.tools\.0: .*did you mean effects\.keyed\?$/)],
    ]);
    const asJson = await cli.run(['rules', 'test', candidate, '--json']);
    expect([asJson.status, JSON.parse(asJson.out.join())]).toMatchObject([
      1,
      { problems: [{ field: 'rules.0.tools.0' }] },
    ]);
    expect(await cli.run(['rules', 'test', path.join(directory, 'limited'), '--since', 'monday'])).toMatchObject({
      status: 1,
      err: [expect.stringContaining('/since: expected a duration')],
    });
  });
});
