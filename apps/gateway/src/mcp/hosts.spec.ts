import type { FastifyRequest } from 'fastify';
import { expect, it } from 'vitest';
import { Hosts } from './hosts.js';

const request = (host: string | undefined, origin?: string) =>
  ({ headers: { host, ...(origin !== undefined && { origin }) } }) as FastifyRequest;
const own = new Hosts('https://agents.example.com/intendant');

it.each([
  ['127.0.0.1:8080', undefined],
  ['localhost:8080', undefined],
  ['[::1]:8080', undefined],
  ['10.1.2.3', undefined],
  ['agents.example.com', undefined],
  ['AGENTS.example.com:443', 'https://agents.example.com'],
  ['127.0.0.1:8080', 'http://localhost:8080'],
  ['localhost:8080', 'http://[::1]:8080'],
  ['127.0.0.1', 'http://127.0.0.1'],
  ['10.1.2.3', 'https://10.1.2.3'],
  ['127.0.0.1:8080', 'https://agents.example.com'],
  ['10.1.2.3:8080', 'http://10.1.2.3:8080'],
])('lets %s with the origin %s in', (host, origin) => {
  expect(() => own.check(request(host, origin))).not.toThrow();
});

it.each([
  [undefined, undefined],
  ['evil.example.com', undefined],
  ['agents.example.com.evil.example', undefined],
  ['x"y@127.0.0.1', undefined],
  ['127.0.0.1/x', undefined],
  ['127.0.0.1:8080', 'https://evil.example.com'],
  ['127.0.0.1:8080', 'http://10.9.9.9'],
  ['agents.example.com', 'http://localhost:3000'],
  ['127.0.0.1:8080', 'http://localhost:3000'],
  ['localhost:8080', 'http://localhost:6274'],
  ['localhost:8080', 'http://localhost'],
  ['10.1.2.3:8080', 'http://10.1.2.3:3000'],
  ['agents.example.com', 'https://agents.example.com:8443'],
  ['agents.example.com', 'http://agents.example.com'],
  ['127.0.0.1:8080', 'file://127.0.0.1:8080'],
  ['127.0.0.1:8080', 'null'],
])('keeps %s with the origin %s out', (host, origin) => {
  expect(() => own.check(request(host, origin))).toThrow(/which is not this gateway|may not speak/);
});

it('knows no name of its own where none was configured', () => {
  const nameless = new Hosts(null);
  expect(() => nameless.check(request('agents.example.com'))).toThrow(/INTENDANT_PUBLIC_URL/);
  expect(nameless.baseUrl(request('127.0.0.1:8080'))).toBe('http://127.0.0.1:8080');
  expect(own.baseUrl(request('127.0.0.1:8080'))).toBe('https://agents.example.com/intendant');
});
