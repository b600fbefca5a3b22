import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { root } from '../setup/paths.mjs';

/** One planted mistake per rule: the file, what it imports, the rule that must name it. */
const mistakes = [
  ['libs/intent/src/hash.ts', 'node:crypto', 'intent-imports-no-package'],
  ['libs/intent/src/outward.ts', '@intendant/contracts', 'intent-imports-nothing'],
  ['libs/contracts/src/outward.ts', '@intendant/store', 'contracts-room'],
  ['libs/credentials/src/outward.ts', '@intendant/store', 'credentials-room'],
  ['libs/cel/src/outward.ts', '@intendant/contracts', 'cel-room'],
  ['libs/tools/src/outward.ts', '@intendant/upstream', 'tools-room'],
  ['libs/rules/src/outward.ts', '@intendant/store', 'rules-room'],
  ['libs/rules/src/file.ts', 'node:fs', 'rules-do-no-io'],
  ['apps/dispatcher/src/judges.ts', '@intendant/rules', 'only-policy-judges'],
  ['libs/tools/src/values.ts', '@intendant/intent', 'only-types-of-intent'],
  ['libs/policy/src/outward.ts', '@intendant/store', 'policy-room'],
  ['libs/approvals/src/outward.ts', '@intendant/store', 'approvals-room'],
  ['libs/approvals/src/file.ts', 'node:fs', 'approvals-do-no-io'],
  ['apps/gateway/src/seals.ts', '@intendant/approvals', 'only-askers-seal'],
  ['libs/policy/src/file.ts', 'node:fs', 'policy-does-no-io'],
  ['libs/slack/src/outward.ts', '@intendant/upstream', 'slack-room'],
  ['libs/store/src/outward.ts', '@intendant/bus', 'store-room'],
  ['libs/bus/src/outward.ts', '@intendant/store', 'bus-room'],
  ['libs/upstream/src/outward.ts', '@intendant/store', 'upstream-room'],
  ['libs/certify/src/outward.ts', '@intendant/store', 'certify-room'],
  ['libs/runtime/src/outward.ts', '@intendant/contracts', 'runtime-room'],
  ['libs/service/src/outward.ts', '@intendant/upstream', 'service-room'],
  ['migrations/outward.ts', '@intendant/intent', 'migrations-room'],
  ['migrations/package.ts', 'ulid', 'migrations-packages'],
  ['clients/typescript/src/outward.ts', '@intendant/contracts', 'client-imports-nothing'],
  ['clients/typescript/src/id.ts', 'node:crypto', 'client-imports-nothing'],
  ['libs/contracts/src/text-of.ts', '@intendant/intent', 'text-for-models-imports-nothing'],
  ['libs/contracts/src/shown-text.ts', 'node:crypto', 'text-for-models-imports-nothing'],
  ['examples/outward.ts', '@intendant/store', 'examples-are-outsiders'],
  ['libs/store/src/app.ts', '../../../apps/policy/src/admission.js', 'libs-do-not-import-apps'],
  ['apps/policy/src/other.ts', '../../gateway/src/inside.js', 'apps-do-not-import-apps'],
  ['apps/standalone/src/deep.ts', '../../policy/src/admission.js', 'standalone-composes-modules'],
  ['bench/deep.ts', '../apps/policy/src/admission.js', 'apps-keep-their-insides'],
  ['faults/checker/fold.ts', '@intendant/intent', 'checker-shares-no-code'],
  ['apps/policy/src/deep.ts', '../../../libs/store/src/inside.js', 'libs-through-their-index'],
  ['apps/gateway/src/calls.ts', '@intendant/upstream', 'gateway-neither-calls-out-nor-decides'],
  ['apps/policy/src/calls.ts', '@intendant/upstream', 'only-executors-call-out'],
  ['apps/cli/src/calls.ts', '@intendant/upstream', 'cli-calls-out-to-certify-only'],
  ['apps/policy/src/certifies.ts', '@intendant/certify', 'certify-is-for-the-command-line'],
  ['apps/outbox-relay/src/knows.ts', '@intendant/intent', 'relay-knows-no-intent'],
  ['apps/notifier/src/decides.ts', '@intendant/policy', 'notifier-only-tells'],
  ['apps/policy/src/fixture.ts', '@intendant/testing', 'testing-is-for-tests'],
  ['apps/policy/src/nats.ts', '@nats-io/transport-node', 'only-bus-uses-nats'],
  ['examples/demo/nats.ts', '@nats-io/transport-node', 'only-bus-uses-nats'],
  ['apps/policy/src/sql.ts', 'pg', 'only-store-uses-the-database'],
  ['apps/policy/src/http.ts', 'undici', 'only-upstream-calls-out'],
  ['apps/policy/src/address.ts', 'ipaddr.js', 'only-upstream-judges-addresses'],
  ['apps/policy/src/module.ts', 'jiti', 'only-upstream-loads-modules'],
  ['apps/policy/src/mcp.ts', '@modelcontextprotocol/client', 'only-upstream-speaks-mcp'],
  ['apps/gateway/src/mcp-served.ts', '@modelcontextprotocol/server', 'only-the-mcp-surface-serves-mcp'],
  ['apps/gateway/src/mcp/adapter.ts', '@modelcontextprotocol/node', 'mcp-over-node-is-for-tests'],
  ['libs/upstream/src/define-tool.ts', 'node:fs', 'tool-entry-imports-nothing'],
  ['libs/rules/src/cel.ts', '@bufbuild/cel', 'only-cel-uses-bufbuild'],
  ['apps/policy/src/breaker.ts', 'cockatiel', 'only-upstream-breaks-circuits'],
  ['apps/policy/src/metrics.ts', 'prom-client', 'only-runtime-uses-prom-client'],
  ['apps/policy/src/token.ts', 'jose', 'only-credentials-uses-jose'],
  ['libs/store/src/wired.ts', '@nestjs/common', 'nest-is-wiring'],
  ['libs/store/src/missing.ts', './nowhere.js', 'no-unresolvable'],
  ['libs/store/src/undeclared.ts', 'iterare', 'no-undeclared-package'],
  ['libs/store/src/utils-user.ts', './utils/any.js', 'no-vague-rooms'],
  ['libs/store/src/egg.ts', './hen.js', 'no-cycles'],
];

/** What the rules must let pass. */
const legal = [
  ['libs/store/src/hen.ts', './egg.js'],
  ['libs/store/src/store.module.ts', '@nestjs/common'],
  ['libs/store/src/store.int.spec.ts', '@intendant/testing'],
  ['libs/store/src/sql.ts', 'pg'],
  ['libs/policy/src/hash.ts', 'node:crypto'],
  ['libs/bus/src/nats.ts', '@nats-io/transport-node'],
  ['examples/agents/nats.ts', '@nats-io/transport-node'],
  ['libs/cel/src/library.ts', '@bufbuild/cel'],
  ['libs/rules/src/expression.ts', '@intendant/cel'],
  ['apps/standalone/src/main.ts', '../../policy/src/policy.module.js'],
  ['apps/policy/src/policy.module.ts', '@intendant/store'],
  ['apps/policy/src/admission.ts', '@intendant/intent'],
  ['apps/cli/src/certifies.ts', '@intendant/certify'],
  ['migrations/data-source.ts', 'typeorm'],
  ['test/flow.spec.ts', 'undici'],
  ['libs/upstream/src/mcp-session.ts', '@modelcontextprotocol/client'],
  ['clients/typescript/src/run.ts', './http.js'],
  ['clients/typescript/src/http.spec.ts', '@intendant/testing'],
  ['clients/typescript/src/text-for.ts', '../../../libs/contracts/src/fence.js'],
  ['apps/gateway/src/mcp/surface.ts', '@modelcontextprotocol/server'],
  ['examples/notes.ts', '../libs/upstream/src/define-tool.js'],
];

const libs = [
  'intent',
  'contracts',
  'credentials',
  'cel',
  'tools',
  'rules',
  'policy',
  'approvals',
  'store',
  'bus',
  'upstream',
  'certify',
  'runtime',
  'testing',
];
let tree;
let violations;

function write(file, content) {
  fs.mkdirSync(path.join(tree, path.dirname(file)), { recursive: true });
  fs.writeFileSync(path.join(tree, file), content);
}

beforeAll(() => {
  tree = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'import-rules-')));
  for (const file of ['package.json', 'tsconfig.json', '.dependency-cruiser.cjs']) {
    fs.copyFileSync(path.join(root, file), path.join(tree, file));
  }
  fs.symlinkSync(path.join(root, 'node_modules'), path.join(tree, 'node_modules'));
  for (const lib of libs) write(`libs/${lib}/src/index.ts`, 'export const value = 1;\n');
  for (const file of [
    'libs/store/src/inside.ts',
    'libs/store/src/utils/any.ts',
    'apps/gateway/src/inside.ts',
    'clients/typescript/src/http.ts',
    'libs/contracts/src/fence.ts',
  ]) {
    write(file, 'export const value = 1;\n');
  }
  for (const [file, target] of [...mistakes, ...legal]) {
    write(file, `import * as target from '${target}';\nexport const value = target;\n`);
  }
  const cruiser = path.join(root, 'node_modules', 'dependency-cruiser', 'bin', 'dependency-cruise.mjs');
  const rooms = ['apps', 'clients', 'libs', 'migrations', 'examples', 'test', 'bench', 'faults'];
  const { stdout } = spawnSync(process.execPath, [cruiser, '--output-type', 'json', ...rooms], {
    cwd: tree,
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  });
  violations = JSON.parse(stdout).summary.violations.map(({ from, rule }) => `${from} ${rule.name}`);
});
afterAll(() => fs.rmSync(tree, { recursive: true }));

describe('the import rules', () => {
  it.each(mistakes)('find %s importing %s (%s)', (file, _, rule) => {
    expect(violations).toContain(`${file} ${rule}`);
  });

  it('find nothing in files that keep them', () => {
    const wrong = legal.slice(1).flatMap(([file]) => violations.filter((each) => each.startsWith(`${file} `)));
    expect(wrong).toEqual([]);
  });

  it('are all covered by a planted mistake', async () => {
    const { default: config } = await import(path.join(root, '.dependency-cruiser.cjs'));
    const covered = mistakes.map(([, , rule]) => rule);
    expect(config.forbidden.map(({ name }) => name).filter((name) => !covered.includes(name))).toEqual([]);
  });
});
