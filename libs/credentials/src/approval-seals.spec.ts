import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ApprovalSeals } from './approval-seals.js';

const old = 'the approval secret of yesterday, of 32 bytes';
const current = 'the approval secret of today, of 32 bytes';
const next = 'the approval secret of tomorrow, of 32 bytes';
const seals = new ApprovalSeals(current, [old]);

describe('a seal', () => {
  test('fits the text that it was made of and no other', () => {
    expect(seals.fits(seals.seal('text'), 'text')).toBe(true);
    for (const other of ['', 'Text', 'text ', 'texts', 'tex']) {
      expect(seals.fits(seals.seal('text'), other), other).toBe(false);
    }
    fc.assert(fc.property(fc.string(), fc.string(), (a, b) => seals.fits(seals.seal(a), b) === (a === b)));
  });

  test('of another length, form or key fits nothing, and nothing is thrown', () => {
    const [kid, mac] = seals.seal('text').split('.') as [string, string];
    const wrong = [
      '',
      '.',
      kid,
      mac,
      `${kid}.`,
      `.${mac}`,
      `${kid}.${mac.slice(1)}`,
      `${kid}.${mac}=`,
      ` ${kid}.${mac}`,
    ];
    const stranger = new ApprovalSeals('the secret of a stranger, of 32 bytes or more').seal('text').split('.');
    const more = [`${kid}.${stranger[1]}`, stranger.join('.'), `x${kid.slice(1)}.${mac}`, 'ü'.repeat(40)];
    for (const digest of [...wrong, ...more]) expect(seals.fits(digest, 'text'), digest).toBe(false);
  });

  test('of before still fits after the key was changed, and one of the next key fits already', () => {
    const [before, after] = [new ApprovalSeals(old, [current]), new ApprovalSeals(next, [current])];
    expect(seals.fits(before.seal('text'), 'text')).toBe(true);
    expect(before.fits(seals.seal('text'), 'text')).toBe(true);
    expect(after.fits(seals.seal('text'), 'text')).toBe(true);
    expect(after.fits(before.seal('text'), 'text'), 'whose key is not known any more').toBe(false);
    expect(seals.seal('text')).not.toBe(before.seal('text'));
    expect(seals.fits(before.seal('text'), 'other')).toBe(false);
  });

  test('names its key', () => {
    const kidOf = (of: ApprovalSeals) => of.seal('text').split('.')[0];
    expect(kidOf(seals)).toBe(kidOf(new ApprovalSeals(current)));
    expect(kidOf(seals)).not.toBe(kidOf(new ApprovalSeals(old)));
    expect(seals.seal('text')).toMatch(/^[\w-]+\.[\w-]{43}$/);
  });

  test('is compared in constant time', () => {
    const source = readFileSync(new URL('./approval-seals.ts', import.meta.url), 'utf8');
    const compared = source.slice(source.indexOf('fits('), source.indexOf('function sealWith'));
    expect(compared).toContain('timingSafeEqual(right, given)');
    expect(compared.replace('right.length === given.length', '')).not.toMatch(/[!=]==?(?!>)/);
  });
});

test('a secret that is too short stops the start, and the message names which', () => {
  expect(() => new ApprovalSeals('short')).toThrow(/INTENDANT_APPROVAL_SECRET\b.*32/);
  expect(() => new ApprovalSeals(current, ['short'])).toThrow(/INTENDANT_APPROVAL_SECRET_PREVIOUS\b.*32/);
});
