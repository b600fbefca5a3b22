import type { Json, JsonObject } from '@intendant/intent';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { pointerSteps } from './json-pointer.js';
import { dig } from './tool-source.js';
import { dropTrustedFields, isTrustedName } from './trusted-fields.js';

const trusted = ['user_id', 'tenant', 'Role', 'idempotencyKey', 'confirmed', 'access_token', 'api-key', 'is_approved'];

describe('a trusted name', () => {
  test.each([
    ...trusted,
    'USER ID',
    'user\u200bid',
    'us\u00ader_id',
    '\ufeffuser_id',
    'ｕｓｅｒ＿ｉｄ',
    'uſer',
    'userİd',
    '𝓉ℯ𝓃𝒶𝓃𝓉',
    'Api-Key!',
    'api.key',
  ])('%j is recognised', (name) => {
    expect(isTrustedName(name)).toBe(true);
  });

  test.each([
    'order_id',
    'username',
    'users',
    'token_count',
    'next_page_token',
    'scope',
    'scopes',
    'customer_id',
    'note',
    '',
  ])('%j is not one', (name) => {
    expect(isTrustedName(name)).toBe(false);
  });
});

describe('dropping trusted fields', () => {
  test('removes them at any depth and records where and which type, never the value', () => {
    const args: JsonObject = {
      order_id: 'ord_1',
      user_id: 'mallory',
      lines: [
        { sku: 'a', Role: ['admin'] },
        { sku: 'b', 'x/y': { confirmed: true, 'a~b': { TOKEN: null } } },
      ],
      idempotency_key: { inner: { user: 1 } },
    };
    const { args: kept, dropped } = dropTrustedFields(args, []);
    expect(kept).toEqual({ order_id: 'ord_1', lines: [{ sku: 'a' }, { sku: 'b', 'x/y': { 'a~b': {} } }] });
    expect(dropped).toEqual([
      { pointer: '/user_id', type: 'string' },
      { pointer: '/lines/0/Role', type: 'array' },
      { pointer: '/lines/1/x~1y/confirmed', type: 'boolean' },
      { pointer: '/lines/1/x~1y/a~0b/TOKEN', type: 'null' },
      { pointer: '/idempotency_key', type: 'object' },
    ]);
    expect(JSON.stringify(dropped)).not.toContain('mallory');
  });

  test('also removes what the tool injects, however it is spelled', () => {
    expect(dropTrustedFields({ 'Acting-Clerk': 'x', clerk: 'y' }, ['acting_clerk'])).toEqual({
      args: { clerk: 'y' },
      dropped: [{ pointer: '/Acting-Clerk', type: 'string' }],
    });
  });

  test('keeps a property called __proto__ a plain property', () => {
    const args = JSON.parse('{"__proto__": {"polluted": 1}, "user": 1}') as JsonObject;
    const { args: kept } = dropTrustedFields(args, []);
    expect(Object.keys(kept)).toEqual(['__proto__']);
    expect('polluted' in kept).toBe(false);
  });
});

describe('for any arguments', () => {
  const name = fc.oneof(fc.string({ maxLength: 8 }), fc.constantFrom(...trusted, 'clerk'));
  const json = fc.letrec<{ value: Json; object: JsonObject }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.oneof(fc.string(), fc.double({ noNaN: true, noDefaultInfinity: true }), fc.boolean(), fc.constant(null)),
      fc.array(tie('value'), { maxLength: 4 }),
      tie('object'),
    ),
    object: fc.dictionary(name, tie('value'), { maxKeys: 5, noNullPrototype: true }),
  })).object;

  test('no trusted name is left, and doing it again changes nothing', () => {
    fc.assert(
      fc.property(json, (args) => {
        const { args: kept } = dropTrustedFields(args, ['clerk']);
        expect(namesOf(kept).filter((name) => isTrustedName(name, new Set(['clerk'])))).toEqual([]);
        expect(dropTrustedFields(kept, ['clerk'])).toEqual({ args: kept, dropped: [] });
      }),
    );
  });

  test('every record points at the field that was dropped', () => {
    fc.assert(
      fc.property(json, (args) => {
        for (const { pointer, type } of dropTrustedFields(args, []).dropped) {
          const value = dig(args, pointerSteps(pointer));
          expect(value).not.toBeUndefined();
          expect(type).toBe(value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value);
        }
      }),
    );
  });

  test('arguments without trusted names stay as they are', () => {
    fc.assert(
      fc.property(json, (args) => {
        fc.pre(namesOf(args).every((name) => !isTrustedName(name)));
        expect(dropTrustedFields(args, [])).toEqual({ args, dropped: [] });
      }),
    );
  });
});

function namesOf(value: Json): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const inside = Object.values(value).flatMap((part: Json) => namesOf(part));
  return Array.isArray(value) ? inside : [...Object.keys(value), ...inside];
}
