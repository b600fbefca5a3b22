import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ToolFileError } from '@intendant/tools';
import { describe, expect, test } from 'vitest';
import { mistakes, tools } from './policy.spec-helper.js';
import { readPolicyFiles } from './read-policy-files.js';

const head = 'apiVersion: intendant/policy/v1\n';
const rule = (fields: string) => `${head}rules:\n  - { name: a-rule, then: deny, message: No., ${fields} }\n`;

describe('a mistake names file, line, field and what would be right', () => {
  test.each([
    ['no version', 'rules: []', '0.policy.yaml:1 apiVersion: missing; must be intendant/policy/v1'],
    ['a misspelt field', `${head}rule: []`, '0.policy.yaml:2 rule: unknown field; did you mean rules?'],
    [
      'a misspelt field of a rule',
      rule('wen: "true"'),
      '0.policy.yaml:3 rules.0.wen: unknown field; did you mean when?',
    ],
    [
      'a misspelt ceiling',
      `${head}serviceKeys:\n  bot:\n    ceilings: { call: 1 }`,
      '0.policy.yaml:4 serviceKeys.bot.ceilings.call: unknown field; did you mean calls?',
    ],
    [
      'a rule without name',
      `${head}rules:\n  - { then: allow }`,
      '0.policy.yaml:3 rules.0.name: missing; must be lower-case words joined by dashes, 64 characters at most',
    ],
    [
      'an unknown verdict',
      `${head}rules:\n  - { name: a-rule, then: refuse, message: No. }`,
      '0.policy.yaml:3 rules.0.then: is the string "refuse"; must be one of "deny", "require_approval", "allow"',
    ],
    [
      'a denial without words',
      `${head}rules:\n  - { name: a-rule, then: deny }`,
      '0.policy.yaml:3 rules.0.message: missing; must tell the agent why',
    ],
    [
      'a rule that is neither true nor false',
      rule('when: "args.n + 1"'),
      '0.policy.yaml:3 rules.0.when: is neither true nor false, whatever it is asked about; must be a condition',
    ],
    [
      'a rule for an effect that there is not',
      rule(`when: "args.n > 1 && (tool.effect == 'destructve' || args.m > 2)"`),
      '0.policy.yaml:3 rules.0.when: compares tool.effect with "destructve", which it never is; did you mean destructive?',
    ],
    [
      'a rule for a profile that there is not',
      rule(`when: "session.profile in ['batch', 'bach']"`),
      '0.policy.yaml:3 rules.0.when: compares session.profile with "bach", which it never is; did you mean batch?',
    ],
    [
      'a rule that is no CEL',
      rule('\n      when: args.amount >'),
      '0.policy.yaml:4 rules.0.when: found > but expecting end of input (line 1, column 13); must be a CEL expression that is true or false',
    ],
    [
      'a variable that is not there',
      rule('when: session.tennant == "acme"'),
      '0.policy.yaml:3 rules.0.when: session.tennant is not known here; did you mean session.tenant? (line 1, column 8); must be a CEL expression that is true or false',
    ],
    [
      'a restriction by the run',
      `${head}serviceKeys:\n  bot:\n    restrict:\n      - { allow: run.calls < 2, message: No. }`,
      '0.policy.yaml:5 serviceKeys.bot.restrict.0.allow: run is not known here; known here: args, session, tool (line 1, column 1); must be a CEL expression that is true or false',
    ],
    [
      'a tool that is not loaded',
      rule('tools: [mail.message.send, payments.refund.creat]'),
      '0.policy.yaml:3 rules.0.tools.1: matches no tool that is loaded; did you mean payments.refund.create?',
    ],
    [
      'a namespace without tools',
      rule('tools: [payment.*]'),
      '0.policy.yaml:3 rules.0.tools.0: matches no tool that is loaded; did you mean payments.*?',
    ],
    [
      'a pattern that is none',
      rule('tools: ["*"]'),
      '0.policy.yaml:3 rules.0.tools.0: is the string "*"; must be the name of a tool, or a namespace such as payments.*',
    ],
    [
      'a default for a tenant',
      `${head}tenant: acme\ndefault: deny`,
      '0.policy.yaml:3 default: is for the whole deployment; must stand in the file without tenant',
    ],
    [
      'a tenant that is none',
      `${head}tenant: Acme Inc`,
      '0.policy.yaml:2 tenant: is the string "Acme Inc"; must be the name of a tenant',
    ],
    [
      'a rate that is none',
      `${head}rates: { perTenant: 50 }`,
      '0.policy.yaml:2 rates.perTenant: is the number 50; must be a rate such as 50/s',
    ],
    [
      'a permission in the middle of a wildcard',
      `${head}serviceKeys:\n  bot: { permissions: ["pay*:refund"] }`,
      '0.policy.yaml:3 serviceKeys.bot.permissions.0: is the string "pay*:refund"; must be a permission such as payments:refund or payments:*',
    ],
    ['two documents', `${head}---\n${head}`, '0.policy.yaml:2: a second document begins; must be one per file'],
    [
      'a service key twice',
      `${head}serviceKeys: { bot: {}, bot: {} }`,
      expect.stringMatching(/^0\.policy\.yaml:2: not valid YAML: /),
    ],
  ])('%s', (_, text, message) => {
    expect(mistakes(text)).toEqual([message]);
  });

  test('and all of them are told at once', () => {
    expect(mistakes(`${head}default: maybe\nrules:\n  - { name: A, then: deny }`, '- no mapping')).toHaveLength(4);
  });
});

describe('over all files', () => {
  test('there is one for a tenant, and one for the deployment', () => {
    expect(mistakes(`${head}tenant: acme`, `${head}\ntenant: acme`)).toEqual([
      '1.policy.yaml:3 tenant: a file for the tenant acme is in 0.policy.yaml too; must be in one place, so join or remove one of them',
    ]);
    expect(mistakes(head, head)).toEqual([
      expect.stringContaining('1.policy.yaml:1 apiVersion: a file for the whole deployment'),
    ]);
    expect(mistakes(head, `${head}tenant: acme`, `${head}tenant: globex`)).toEqual([]);
  });

  test('there is one rule of a name', () => {
    const acme = rule('when: "true"').replace(head, `${head}tenant: acme\n`);
    expect(mistakes(rule('when: "true"'), acme)).toEqual([
      expect.stringMatching(/^1\.policy\.yaml:4 rules\.0\.name: a rule named a-rule is in 0/),
    ]);
  });

  test('there is one definition of a service key for a tenant', () => {
    const key = (tenant: string) => `${head}${tenant && `tenant: ${tenant}\n`}serviceKeys: { bot: {} }`;
    expect(mistakes(key('acme'), key('globex'))).toEqual([]);
    expect(mistakes(key('acme'), key(''))).toEqual([
      expect.stringContaining('1.policy.yaml:2 serviceKeys.bot: the service key bot is in 0'),
    ]);
    expect(mistakes(key(''), key('acme'))).toEqual([
      expect.stringContaining('1.policy.yaml:3 serviceKeys.bot: the service key bot is in 0'),
    ]);
  });
});

describe('a folder of policy files', () => {
  async function problemsOf(files: Readonly<Record<string, string>>): Promise<string[]> {
    const folder = await mkdtemp(join(tmpdir(), 'policies-'));
    try {
      for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
      const set = await readPolicyFiles(folder, tools);
      return [`read: ${set.rulesFor('acme').map(({ name }) => name)}`];
    } catch (error) {
      if (!(error instanceof ToolFileError)) throw error;
      return error.message.split('\n').map((line) => line.replaceAll(folder, '.'));
    } finally {
      await rm(folder, { recursive: true });
    }
  }

  test('is read beside what is no YAML and beside tools, and with no other YAML', async () => {
    expect(await problemsOf({ 'a.policy.yaml': rule('when: "true"'), 'notes.md': 'x', 'b.tool.yaml': 'x' })).toEqual([
      'read: a-rule',
    ]);
    const rules = { 'a.policy.yaml': rule('when: "true"'), 'rules.yaml': '' };
    expect(await problemsOf(rules)).toEqual([expect.stringMatching(/rules\.yaml.*must be named \*\.policy\.yaml/)]);
  });

  test('must hold one, and none with the other ending', async () => {
    expect(await problemsOf({})).toEqual(['.:0: holds no policy; must have at least one *.policy.yaml file']);
    expect(await problemsOf({ 'a.policy.yml': head, 'b.policy.yaml': `${head}x: 1` })).toEqual([
      './a.policy.yml:0: has the ending .policy.yml; must be renamed to a.policy.yaml',
      expect.stringMatching(/^\.\/b\.policy\.yaml:2 x: unknown field/),
    ]);
  });

  test('must be there', async () => {
    await expect(readPolicyFiles('/nowhere/policies', tools)).rejects.toThrow(
      /must be a directory of \*\.policy\.yaml files/,
    );
  });
});
