import { describe, expect, test } from 'vitest';
import { formatDuration } from './format-duration.js';
import { readTool } from './parse-tool-file.js';
import { type Edit, environment, problemsOf, refundFile, refundTool } from './refund-tool.spec-helper.js';
import { ToolSource } from './tool-source.js';
import { inequality, type Spans, windowsOf } from './windows.js';

const read = (...edits: Edit[]) => readTool(new ToolSource('refund.tool.yaml', refundFile(...edits), environment));
const messages = (...edits: Edit[]) => problemsOf(...edits).map(({ field, message }) => `${field}: ${message}`);

const chosen = (ms: number) => ({ ms, basis: 'chosen' }) as const;
const spans: Spans = {
  effect: 'write',
  guarantee: 'idempotency_key',
  authority: 'authoritative',
  attempts: 3,
  connect: chosen(2_000),
  call: chosen(8_000),
  notice: chosen(5_000),
  lease: { ms: 13_000, basis: 'computed' },
  settle: { ms: 11_000, basis: 'computed' },
  maxProcessing: { ms: 10_000, basis: 'documented' },
  lag: { ms: 0, basis: 'default' },
  spacing: chosen(2_000),
  keyRetention: { ms: 86_400_000, basis: 'documented' },
  deadline: chosen(600_000),
  poll: { interval: chosen(2_000), deadline: chosen(3_600_000) },
  approvalTtl: chosen(300_000),
};

describe('the windows of a tool', () => {
  test('hold where everything fits, and are all there', () => {
    const windows = windowsOf(spans);
    expect(windows.filter(({ holds }) => !holds)).toEqual([]);
    expect(windows.map(({ name }) => name)).toEqual([
      'lease',
      'notice',
      'longest run',
      'approval.ttl',
      'settle',
      'lookup.spacing',
      'keyRetention',
      'lookup.deadline',
      'poll.interval',
      'poll.deadline',
    ]);
  });

  test.each<[Partial<Spans>, string]>([
    [{ lease: chosen(11_000) }, 'lease (11 s) must be longer than connect 2 s + call 8 s + clock margin 1 s = 11 s'],
    [{ notice: chosen(8_000) }, 'notice (8 s) must be shorter than call = 8 s, or nobody would ever be told'],
    [
      { lease: chosen(43_200_000), settle: chosen(43_200_001) },
      'longest run (24 h) must be at least lease 12 h + settle 43200.001 s = 86400.001 s',
    ],
    [
      { approvalTtl: chosen(86_400_000) },
      'approval.ttl (24 h) must be at most the longest run 24 h - lease 13 s = 86387 s',
    ],
    [
      { settle: chosen(10_050) },
      'settle (10.05 s) must be at least maxProcessing 10 s + lookup.lag 0 ms + margin 100 ms = 10.1 s',
    ],
    [
      { keyRetention: chosen(60_000), deadline: chosen(30_000) },
      'keyRetention (60 s) must be longer than the latest resend: 3 attempts x (lease 13 s + settle 11 s + spacing 2 s) = 78 s',
    ],
    [
      { keyRetention: chosen(72_000), authority: 'none' },
      'keyRetention (72 s) must be longer than the latest resend: 3 attempts x (lease 13 s + settle 11 s) = 72 s',
    ],
    [
      { keyRetention: chosen(300_000) },
      'lookup.deadline (10 min) must be at most keyRetention 5 min - (lease 13 s + settle 11 s) = 276 s',
    ],
    [{ spacing: chosen(600_000) }, 'lookup.spacing (10 min) must be shorter than lookup.deadline = 10 min'],
    [
      { poll: { interval: chosen(60_000), deadline: chosen(60_000) } },
      'poll.interval (60 s) must be shorter than poll.deadline = 60 s',
    ],
    [
      { poll: { interval: chosen(1_000), deadline: chosen(9_000) } },
      'poll.deadline (9 s) must be at least maxProcessing = 10 s',
    ],
  ])('are named with their numbers where they do not fit: %j', (changes, sentence) => {
    const broken = windowsOf({ ...spans, ...changes }).filter(({ holds }) => !holds);
    expect(broken.map(inequality)).toContain(sentence);
  });

  test('of a read are those of its call alone', () => {
    const names = windowsOf({ ...spans, effect: 'read', poll: null, approvalTtl: null }).map(({ name }) => name);
    expect(names).toEqual(['lease', 'notice', 'longest run']);
  });

  test('ask nothing of a run for what is never sent again', () => {
    const slow = { ...spans, guarantee: 'none', settle: chosen(7 * 86_400_000) } as const;
    expect(windowsOf(slow).find(({ name }) => name === 'longest run')).toMatchObject({
      holds: true,
      requirement: 'must be at least lease = 13 s',
    });
  });
});

describe('at load', () => {
  test('a window that does not fit refuses the file at the field that decides it', () => {
    const rows: [Edit, string][] = [
      [
        ['keyRetention: PT24H', 'keyRetention: 90s'],
        'upstream.keyRetention: keyRetention (90 s) must be longer than the latest resend: 4 attempts x (lease 12 s + settle 11.5 s + spacing 2 s) = 102 s',
      ],
      [
        ['concurrency: 8', 'notice: 9s'],
        'limits.notice: notice (9 s) must be shorter than call = 8 s, or nobody would ever be told',
      ],
      [
        ['call: 8s', 'call: 30h'],
        'limits.call: longest run (24 h) must be at least lease 108004 s + settle 11.5 s = 108015.5 s',
      ],
      [
        ['maxProcessing: 10s', 'maxProcessing: 2d'],
        expect.stringMatching(/^upstream\.maxProcessing: longest run \(24 h\) must be at least lease 12 s \+ settle/),
      ],
      [
        ['retry:', 'approval: { required: false, ttl: 30h }\nretry:'],
        'approval.ttl: approval.ttl (30 h) must be at most the longest run 24 h - lease 12 s = 86388 s',
      ],
    ];
    for (const [edit, sentence] of rows) expect(messages(edit)).toContainEqual(sentence);
  });

  test('every zero is refused, with and without its basis', () => {
    const zero: Edit = ['maxProcessing: 10s', 'maxProcessing: { value: 0s, basis: measured }'];
    expect(messages(zero)).toEqual(['upstream.maxProcessing: is zero; must be longer']);
  });

  test('a written settle time needs less room than a computed one', () => {
    expect(refundTool(['  statuses:', '  settle: 10600ms\n  statuses:']).terms.settleMs).toBe(10_600);
    expect(refundTool().terms.settleMs).toBe(11_500);
  });
});

describe('a value says how it is known', () => {
  const assumed: Edit = ['keyRetention: PT24H', 'keyRetention: { value: PT24H, basis: assumed }'];

  test('alone it counts as documented', () => {
    const { windows } = read();
    expect(windows.find(({ name }) => name === 'keyRetention')).toMatchObject({ ms: 86_400_000, basis: 'documented' });
  });

  test('measured is told as such', () => {
    const { windows, notes } = read(['keyRetention: PT24H', 'keyRetention: { value: PT24H, basis: measured }']);
    expect(windows.find(({ name }) => name === 'keyRetention')).toMatchObject({ basis: 'measured' });
    expect(notes).toEqual([]);
  });

  test('an assumed retention counts as zero: what is relied upon is the authoritative lookup', () => {
    const { tool, notes } = read(assumed);
    expect(tool.terms).toMatchObject({ guarantee: 'lookup', lookup: 'authoritative', retentionMs: 0 });
    expect(notes).toEqual([
      'keyRetention (24 h) is assumed and counts as zero: the guarantee relied upon is lookup, not idempotency_key',
    ]);
  });

  test('without a lookup that proves absence, nothing is left to rely upon', () => {
    const { tool, notes } = read(assumed, ['authoritative: true', 'authoritative: false']);
    expect(tool.terms).toMatchObject({ guarantee: 'none', lookup: 'presence_only', retentionMs: 0 });
    expect(notes.join()).toContain('the guarantee relied upon is none, not idempotency_key');
  });

  test('an assumed lag or processing time is pointed out', () => {
    const edit: Edit = ['lag: 500ms', 'lag: { value: 500ms, basis: assumed }'];
    expect(read(edit).notes).toEqual([
      'lookup.lag (500 ms) is assumed: every absence that permits a resend rests on it',
    ]);
  });

  test('what does not fit into a run by default is pointed out', () => {
    expect(read(['maxProcessing: 10s', 'maxProcessing: 2h']).notes).toEqual([
      expect.stringMatching(
        /is longer than a run lives by default \(60 min\): .* unless the run is opened with a longer ttl$/,
      ),
    ]);
  });

  test('the real credential in a sandbox is pointed out', () => {
    const edits: Edit[] = [
      ['method: POST', 'method: POST\n    credential: payments'],
      ['  statuses:', '  sandbox: { baseUrl: "https://test.example" }\n  statuses:'],
    ];
    expect(read(...edits).notes).toEqual([
      'the sandbox is asked with the real credential payments; name another in upstream.sandbox.credential',
    ]);
  });
});

test.each([
  [0, '0 ms'],
  [500, '500 ms'],
  [1_500, '1.5 s'],
  [78_000, '78 s'],
  [300_000, '5 min'],
  [5_400_000, '90 min'],
  [86_400_000, '24 h'],
  [7 * 86_400_000, '7 d'],
])('%d ms is written as %s', (ms, text) => {
  expect(formatDuration(ms)).toBe(text);
});
