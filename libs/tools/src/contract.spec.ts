import { describe, expect, test } from 'vitest';
import { compareContract } from './contract.js';
import { type Edit, refundTool } from './refund-tool.spec-helper.js';

const tool = refundTool();
const remembered = { contract: tool.contract, digest: tool.contractDigest };

describe('the contract of a tool', () => {
  test('is name, version, effect, permission, input and output', () => {
    expect(Object.keys(tool.contract)).toEqual(['name', 'version', 'effect', 'permission', 'input', 'output']);
    expect(tool.contractDigest).toMatch(/^[0-9a-f]{64}$/);
  });

  test.each<[string, Edit]>([
    ['the description', ['Refund a captured', 'Give back a captured']],
    ['limits', ['call: 8s', 'call: 9s']],
    ['the upstream', ['path: /refunds\n', 'path: /v2/refunds\n']],
    [
      'the order of fields',
      ['required: [order_id, amount_cents]\n', '# comment\n  required: [order_id, amount_cents]\n'],
    ],
  ])('stays the same when %s changes', (_, edit) => {
    expect(compareContract(refundTool(edit), remembered)).toBeNull();
  });

  test('does not depend on the order of properties in the file', () => {
    const turned = refundTool([
      '{ type: integer, minimum: 1, maximum: 1000000 }',
      '{ maximum: 1000000, minimum: 1, type: integer }',
    ]);
    expect(turned.contractDigest).toBe(tool.contractDigest);
  });

  test.each<[string, Edit]>([
    ['/effect changed', ['effect: destructive', 'effect: write']],
    ['/permission changed', ['payments:refund', 'payments:all']],
    ['/input/properties/amount_cents/maximum changed', ['maximum: 1000000', 'maximum: 5']],
    ['/input/properties/note added', ['    reason:', '    note: { type: string }\n    reason:']],
    ['/input/properties/amount_cents/minimum removed', ['minimum: 1, ', '']],
    ['/input/required changed', ['required: [order_id, amount_cents]', 'required: [order_id]']],
    ['/output/required changed', ['required: [refund_id]', 'required: [refund_id, at]']],
  ])('is refused under the same version: %s', (change, edit) => {
    expect(compareContract(refundTool(edit), remembered)).toBe(
      `refund.tool.yaml: the contract of payments.refund.create version 1 has changed since it was first loaded (${change}); raise version, or undo the change`,
    );
  });

  test('names five changes and counts the rest', () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
    const more = refundTool([
      '    reason:',
      `${names.map((name) => `    ${name}: { type: string }\n`).join('')}    reason:`,
    ]);
    expect(compareContract(more, remembered)).toContain('/input/properties/e added and 2 more)');
  });
});
