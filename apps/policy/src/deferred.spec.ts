import { expect, test } from 'vitest';
import { Deferred } from './deferred.js';

test('a submission comes again when there may be room, later the more wait with it', () => {
  const deferred = new Deferred();
  expect(deferred.defer('acme', 'a', 100, 0.9)).toBe(100);
  expect(deferred.defer('acme', 'b', 100, 0.9)).toBe(180);
  expect(deferred.defer('acme', 'c', 100, 0.9)).toBe(270);
  expect(deferred.defer('acme', 'd', 100, 0)).toBe(100);
  expect(deferred.defer('acme', 'e', 1e9, 0.9), 'not for ever').toBe(30_000);
  expect(deferred.defer('acme', 'f', null, 0.5), 'one that waits for another').toBe(1_000);
});

test('a tenant has so many places, whatever others do, and one that was decided is free again', () => {
  const deferred = new Deferred(2);
  expect(deferred.defer('acme', 'a', 100, 0)).not.toBeNull();
  expect(deferred.defer('acme', 'b', 100, 0)).not.toBeNull();
  expect(deferred.defer('acme', 'c', 100, 0)).toBeNull();
  expect(deferred.defer('acme', 'a', 100, 0), 'it has its place').not.toBeNull();
  expect(deferred.defer('globex', 'c', 100, 0)).not.toBeNull();
  deferred.done('acme', 'b');
  expect(deferred.defer('acme', 'c', 100, 0)).not.toBeNull();
});

test('places of those that another replica has got are free again after a while', () => {
  let now = 0;
  const deferred = new Deferred(1, 10, () => now);
  deferred.defer('acme', 'a', 100, 0);
  now = 199;
  expect(deferred.defer('acme', 'b', 100, 0)).toBeNull();
  now = 201;
  expect(deferred.defer('acme', 'b', 100, 0)).not.toBeNull();
});

test('all tenants together have so many places', () => {
  const deferred = new Deferred(2, 3);
  for (const tenant of ['a', 'b', 'c']) expect(deferred.defer(tenant, 'm', 100, 0)).not.toBeNull();
  expect(deferred.defer('d', 'm', 100, 0)).toBeNull();
  expect(deferred.defer('a', 'm', 100, 0), 'it has its place').not.toBeNull();
  deferred.done('b', 'm');
  expect(deferred.defer('d', 'm', 100, 0)).not.toBeNull();
});
