import { describe, expect, it } from 'vitest';
import { BusUnavailable } from './errors.js';
import { parseServers } from './server-list.js';

describe('parseServers', () => {
  it.each([
    ['nats://a:4222', ['nats://a:4222'], {}],
    ['a:4222, nats://[::1]:4223/', ['a:4222', 'nats://[::1]:4223'], {}],
    ['nats://me:hush@a:4222', ['nats://a:4222'], { user: 'me', pass: 'hush' }],
    ['nats://m%40e:%25%2F%2C@a', ['nats://a'], { user: 'm@e', pass: '%/,' }],
    ['nats://me:@a', ['nats://a'], { user: 'me', pass: '' }],
    ['nats://to%3Aken@a:4222', ['nats://a:4222'], { token: 'to:ken' }],
    ['nats://me:p/a@ss@a:4222', ['nats://a:4222'], { user: 'me', pass: 'p/a@ss' }],
    [
      'nats://me:hush@a:1,nats://b:2,nats://me:hush@c:3',
      ['nats://a:1', 'nats://b:2', 'nats://c:3'],
      { user: 'me', pass: 'hush' },
    ],
  ])('reads %s', (url, servers, credentials) => {
    expect(parseServers(url)).toEqual({ servers, credentials });
  });

  it.each([
    'nats://me:hush%zz@a:4222',
    'nats://me:hu,sh@a:4222',
    'nats://me:hush@',
    'nats://me:hush@a:4222/path',
    'nats://me:hush@a:1,nats://me:hush2@b:2',
  ])('refuses %s, and repeats nothing of it', (url) => {
    const parse = () => parseServers(url);
    expect(parse).toThrow(BusUnavailable);
    expect(parse).not.toThrow(/hu|sh@/);
  });
});
