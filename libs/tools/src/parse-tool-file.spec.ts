import { describe, expect, test } from 'vitest';
import { longestDurationMs } from './duration.js';
import { parseToolFile } from './parse-tool-file.js';
import { type Edit, problemsOf, refundTool } from './refund-tool.spec-helper.js';

describe('a good tool file', () => {
  test('becomes a definition with durations in milliseconds and variables filled in', () => {
    const tool = refundTool();
    expect(tool).toMatchObject({
      name: 'payments.refund.create',
      version: 1,
      description: 'Refund a captured payment to its original card.',
      effect: 'destructive',
      reversible: false,
      permission: 'payments:refund',
      phases: ['resolve'],
      inject: { tenant_id: 'tenant', agent_user: 'user' },
      limits: { connectMs: 1000, callMs: 8000, noticeMs: null, concurrency: 8, rate: null, cost: null },
      businessKey: null,
      sandbox: null,
      file: 'refund.tool.yaml',
    });
    expect(tool.upstream).toEqual({
      kind: 'http',
      name: 'payments.example',
      concurrency: 64,
      outcomes: [],
      credential: null,
      http2: false,
      poll: null,
      baseUrl: 'https://payments.example/api',
      method: 'POST',
      path: '/refunds',
      headers: { 'X-Order': '{{order_id}}' },
      body: '$args',
      statuses: { 409: 'in_progress' },
      lookup: {
        method: 'GET',
        path: '/refunds?key={{key}}',
        headers: {},
        present: '$count(data) > 0',
        receipt: 'data[0]',
        count: null,
        parts: null,
        absentStatuses: [],
      },
    });
  });

  test('freezes lease, settle time, retention and authority into its terms', () => {
    expect(refundTool().terms).toEqual({
      effect: 'destructive',
      guarantee: 'idempotency_key',
      lookup: 'authoritative',
      maxAttempts: 4,
      leaseMs: 1000 + 8000 + 3000,
      settleMs: 10_000 + 500 + 1000,
      spacingMs: 2000,
      retentionMs: 86_400_000,
      deadlineMs: 600_000,
      backoffMs: 250,
      counts: false,
      poll: null,
    });
  });

  test('gets the documented defaults where it says nothing', () => {
    const text = `apiVersion: intendant/v1
name: orders.get
version: 3
description: Read one order.
effect: read
permission: orders:read
input: { type: object, additionalProperties: false }
upstream:
  http: { baseUrl: "http://orders.example", method: GET, path: /orders }
`;
    const tool = parseToolFile('orders.tool.yaml', text, {});
    expect(tool).toMatchObject({
      reversible: null,
      phases: null,
      output: null,
      inject: {},
      limits: { connectMs: 2000, callMs: 10_000, concurrency: 32 },
    });
    expect(tool.terms).toMatchObject({
      guarantee: 'none',
      lookup: 'none',
      maxAttempts: 3,
      backoffMs: 500,
      retentionMs: 0,
    });
    expect(tool.upstream).toMatchObject({ body: null, headers: {}, statuses: {}, lookup: null });
  });

  test('may set settle time, spacing and deadline itself', () => {
    const tool = refundTool(['    lag: 500ms', '    lag: 500ms\n    spacing: 1s\n    deadline: 5m\n  settle: 12s']);
    expect(tool.terms).toMatchObject({ settleMs: 12_000, spacingMs: 1000, deadlineMs: 300_000 });
  });

  test.each<[string, Edit[], object]>([
    [
      'an upstream that creates under our id never forgets it',
      [['idempotency_key\n  keyRetention: PT24H', 'conditional_create']],
      { retentionMs: longestDurationMs, lookup: 'authoritative' },
    ],
    [
      'an upstream with an authoritative lookup remembers no key',
      [['idempotency_key\n  keyRetention: PT24H', 'lookup']],
      { retentionMs: 0, guarantee: 'lookup' },
    ],
    [
      'a lookup without authority proves presence only',
      [['authoritative: true', 'authoritative: false']],
      { lookup: 'presence_only' },
    ],
  ])('%s', (_, edits, terms) => {
    expect(refundTool(...edits).terms).toMatchObject(terms);
  });

  test('may declare the statuses by which its lookup says that nothing is there', () => {
    expect(refundTool(['lag: 500ms', 'absent: [404, 410]']).upstream.lookup).toMatchObject({
      absentStatuses: [404, 410],
    });
  });

  test('may say that no approval is required, which is the same as saying nothing', () => {
    expect(refundTool(['retry:', 'approval: { required: false }\nretry:']).approval).toEqual(refundTool().approval);
  });
});

describe('a field that exists in the contract but not in the code is refused, never ignored', () => {
  test.each<[string, Edit]>([
    ['compensation', ['retry:', 'compensation: { tool: payments.refund.undo, args: "$" }\nretry:']],
  ])('%s', (field, edit) => {
    expect(problemsOf(edit)).toEqual([
      expect.objectContaining({ field, message: expect.stringMatching(/^not supported yet/) }),
    ]);
  });
});
