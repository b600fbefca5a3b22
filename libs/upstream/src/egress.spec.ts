import type { LookupFunction } from 'node:net';
import { ConfigError } from '@intendant/runtime';
import { MisbehavingServer, type ToolChanges, toolAt } from '@intendant/testing';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { Egress } from './egress.js';
import { readEgressRules } from './egress-rules.js';
import { Upstreams } from './upstreams.js';

const rules = (hosts = '', special = '') =>
  readEgressRules({ INTENDANT_EGRESS_HOSTS: hosts, INTENDANT_EGRESS_PRIVATE: special });

/** A resolver that gives one list of addresses after another, the last for ever. */
function answers(...lists: string[][]): LookupFunction {
  return (_host, _options, callback) => {
    const list = (lists.length > 1 ? lists.shift() : lists[0]) ?? [];
    callback(
      null,
      list.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );
  };
}

function lookedUp(egress: Egress, host: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    egress.lookup(host, { all: true }, (error, found) => (error ? reject(error) : resolve(found)));
  });
}

describe('the list of hosts', () => {
  test.each([
    { list: 'api.example.com', host: 'api.example.com', port: 443, may: true },
    { list: 'api.example.com', host: 'API.Example.com.', port: 443, may: true },
    { list: 'api.example.com', host: 'example.com', port: 443, may: false },
    { list: 'api.example.com', host: 'evil-api.example.com', port: 443, may: false },
    { list: '*.example.com', host: 'a.b.example.com', port: 443, may: true },
    { list: '*.example.com', host: 'example.com', port: 443, may: false },
    { list: '*.example.com', host: 'badexample.com', port: 443, may: false },
    { list: '*.example.com', host: 'example.com.evil.net', port: 443, may: false },
    { list: 'a.example:8443', host: 'a.example', port: 8443, may: true },
    { list: 'a.example:8443', host: 'a.example', port: 443, may: false },
    { list: 'bücher.example', host: 'xn--bcher-kva.example', port: 443, may: true },
    { list: '8.8.8.8', host: '8.8.8.8', port: 53, may: true },
    { list: '8.8.8.8', host: '[::ffff:8.8.8.8]', port: 53, may: true },
    { list: '[2606:4700::1]:80 , b.example', host: '2606:4700:0:0::1', port: 80, may: true },
    { list: '[2606:4700::1]:80', host: '[2606:4700::1]', port: 443, may: false },
    { list: '2606:4700::1', host: '[2606:4700::1]', port: 443, may: true },
    { list: '', host: 'anything.example', port: 1, may: true },
    { list: '', host: '8.8.8.8', port: 1, may: true },
    { list: '', host: '127.0.0.1', port: 80, may: false },
    { list: '127.0.0.1', host: '127.0.0.1', port: 80, may: false },
  ])('"$list" and $host:$port', ({ list, host, port, may }) => {
    expect(new Egress(rules(list)).refusal(host, port) === null).toBe(may);
  });

  test('names host and rule in its refusal', () => {
    expect(new Egress(rules('a.example')).refusal('b.example', 443)).toBe(
      'b.example:443 must not be called: it is not in INTENDANT_EGRESS_HOSTS',
    );
  });

  test.each([
    'https://a.example',
    'a.example/path',
    '*',
    '*.',
    '*.8.8.8.8',
    'a.example:0',
    'a.example:70000',
    'a b',
    'user@a.example',
    '10.0.0.0/8',
  ])('does not take "%s", and says what it takes', (entry) => {
    expect(() => rules(entry)).toThrow(ConfigError);
    expect(() => rules(entry)).toThrow(`INTENDANT_EGRESS_HOSTS: "${entry}" is not a host; must be`);
  });
});

describe('an address that is not of the public internet', () => {
  const special = [
    { address: '10.1.2.3', kind: 'private' },
    { address: '172.31.0.1', kind: 'private' },
    { address: '192.168.1.1', kind: 'private' },
    { address: '127.0.0.1', kind: 'loopback' },
    { address: '127.8.9.10', kind: 'loopback' },
    { address: '169.254.169.254', kind: 'link-local' },
    { address: '100.64.0.1', kind: 'carrier-grade-nat' },
    { address: '0.0.0.0', kind: 'unspecified' },
    { address: '224.0.0.1', kind: 'multicast' },
    { address: '255.255.255.255', kind: 'broadcast' },
    { address: '192.0.2.1', kind: 'reserved' },
    { address: '198.18.0.1', kind: 'reserved' },
    { address: '240.0.0.1', kind: 'reserved' },
    { address: '::1', kind: 'loopback' },
    { address: '::', kind: 'unspecified' },
    { address: 'fe80::1', kind: 'link-local' },
    { address: 'fe80::1%1', kind: 'link-local' },
    { address: 'fd12:3456::1', kind: 'unique-local' },
    { address: 'fec0::1', kind: 'deprecated-site-local' },
    { address: 'ff02::1', kind: 'multicast' },
    { address: '::ffff:10.0.0.1', kind: 'private' },
    { address: '::ffff:7f00:1', kind: 'loopback' },
    { address: '64:ff9b::127.0.0.1', kind: 'loopback' },
    { address: '64:ff9b:1::1', kind: 'rfc6052' },
    { address: '2002:7f00:1::', kind: '6to4' },
    { address: '2001:0:7f00:1::', kind: 'teredo' },
    { address: '::127.0.0.1', kind: 'reserved' },
    { address: '4000::1', kind: 'reserved' },
  ];
  test.each(special)('such as $address is refused, written out or behind a name', async ({ address, kind }) => {
    const egress = new Egress(rules(), answers([address]));
    const why = `must not be called: it is at a ${kind} address, and INTENDANT_EGRESS_PRIVATE does not allow that`;
    if (!address.includes('%')) expect(egress.refusal(address, 80)).toContain(why);
    await expect(lookedUp(egress, 'inner.example')).rejects.toMatchObject({
      code: 'EGRESS_REFUSED',
      message: `inner.example ${why}`,
    });
  });

  test.each(['8.8.8.8', '2606:4700::1111', '::ffff:8.8.8.8', '64:ff9b::8.8.8.8'])('is not %s', async (address) => {
    const egress = new Egress(rules(), answers([address]));
    expect(egress.refusal(address, 80)).toBeNull();
    expect(await lookedUp(egress, 'outer.example')).toMatchObject([{ address }]);
  });

  test.each([
    { allowed: '10.0.0.0/8', address: '10.1.2.3', may: true },
    { allowed: '10.0.0.0/8', address: '192.168.0.1', may: false },
    { allowed: '10.0.0.0/8', address: '::ffff:10.1.2.3', may: true },
    { allowed: '127.0.0.1', address: '127.0.0.2', may: false },
    { allowed: '127.0.0.0/8, ::1/128', address: '::1', may: true },
    { allowed: 'fd00::/8', address: 'fd12::1', may: true },
    { allowed: '0.0.0.0/0', address: '::1', may: false },
    { allowed: 'inner.example', address: '192.168.0.1', may: true },
    { allowed: '*.example', address: '169.254.1.1', may: true },
    { allowed: 'other.example', address: '192.168.0.1', may: false },
  ])('may be called when "$allowed" allows it', async ({ allowed, address, may }) => {
    const found = lookedUp(new Egress(rules('', allowed), answers([address])), 'inner.example');
    await (may ? expect(found).resolves.toHaveLength(1) : expect(found).rejects.toThrow('INTENDANT_EGRESS_PRIVATE'));
  });

  test.each(['10.0.0.0/33', '10.0.0.0/x', '::ffff:10.0.0.0/104', 'a.example:80', 'http://a.example', '*'])(
    'cannot be allowed by "%s"',
    (entry) => expect(() => rules('', entry)).toThrow(`INTENDANT_EGRESS_PRIVATE: "${entry}" is`),
  );

  test('is left out where a name has public addresses too', async () => {
    const egress = new Egress(rules(), answers(['127.0.0.1', '8.8.8.8', '::1']));
    expect(await lookedUp(egress, 'mixed.example')).toEqual([{ address: '8.8.8.8', family: 4 }]);
  });
});

test('a look-up for one address gives the first that may be called, and the resolver is asked as the connection asks', async () => {
  const asked: unknown[] = [];
  const resolver: LookupFunction = (host, options, callback) => {
    asked.push([host, options]);
    answers(['10.0.0.1', '8.8.8.8', '8.8.4.4'])(host, options, callback);
  };
  const egress = new Egress(rules(), resolver);
  const found = await new Promise((resolve) => {
    egress.lookup('outer.example', { family: 4, hints: 1 }, (...answer) => resolve(answer));
  });
  expect(found).toEqual([null, '8.8.8.8', 4]);
  expect(asked).toEqual([['outer.example', { family: 4, hints: 1, all: true }]]);
});

test('what the resolver says about a name that is not there is handed on', async () => {
  const failure = Object.assign(new Error('no such name'), { code: 'ENOTFOUND' });
  await expect(lookedUp(new Egress(rules(), (_, __, callback) => callback(failure, [])), 'a.example')).rejects.toBe(
    failure,
  );
  await expect(lookedUp(new Egress(rules(), answers([])), 'a.example')).rejects.toMatchObject({ code: 'ENOTFOUND' });
});

describe('over real connections', () => {
  let server: MisbehavingServer;
  const open: Upstreams[] = [];
  beforeAll(async () => {
    server = await MisbehavingServer.start();
  });
  afterEach(() => Promise.all(open.splice(0).map((upstreams) => upstreams.close())));
  afterAll(() => server.stop());

  const upstreamsWith = (egress: Egress) => {
    const made = new Upstreams(() => null, { egress });
    open.push(made);
    return made;
  };
  const request = (url: string, changes: ToolChanges = {}) => {
    const tool = toolAt(url, changes);
    return { tool, args: {}, key: 'k', intentId: 'i', tenant: 't', runId: 'run_1', attemptId: 'a-1', sandbox: false };
  };
  const call = (upstreams: Upstreams, url: string, changes?: ToolChanges) =>
    upstreams.call(request(url, changes), { mayStart: () => true });

  test('a name that moves to a forbidden address is refused with the next connection', async () => {
    const egress = new Egress(rules('', '127.0.0.1'), answers(['127.0.0.1'], ['127.0.0.2']));
    const upstreams = upstreamsWith(egress);
    const url = `http://rebinding.example:${server.port}`;
    expect(await call(upstreams, url)).toMatchObject({ kind: 'executed' });
    await server.closeConnections();
    const seen = server.requests.length;
    expect(await call(upstreams, url)).toMatchObject({
      kind: 'not_executed',
      cause: 'egress_refused',
      transient: false,
      detail: expect.stringContaining('rebinding.example must not be called: it is at a loopback address'),
    });
    expect(server.requests).toHaveLength(seen);
  });

  test.each([
    'http://127.0.0.1',
    'http://127.1',
    'http://2130706433',
    'http://0x7f.0.0.1',
    'http://[::1]',
    'http://[::ffff:127.0.0.1]',
    'http://localhost',
  ])('nothing is sent to %s unless it is allowed', async (host) => {
    const before = server.connections;
    const upstreams = upstreamsWith(new Egress(rules()));
    expect(await call(upstreams, `${host}:${server.port}`)).toMatchObject({
      kind: 'not_executed',
      cause: 'egress_refused',
      detail: expect.stringContaining('must not be called: it is at a loopback address'),
    });
    expect(await upstreams.lookup(request(`${host}:${server.port}`))).toMatchObject({
      kind: 'cannot_tell',
      detail: expect.stringContaining('must not be called'),
    });
    expect(server.connections).toBe(before);
  });

  test('a host that is not on the list is refused before its name is looked up', async () => {
    const never: LookupFunction = () => expect.unreachable('looked up');
    const verdict = await call(upstreamsWith(new Egress(rules('a.example'), never)), 'http://b.example');
    expect(verdict).toMatchObject({ cause: 'egress_refused' });
  });

  test.each([false, true])('a TLS upstream is refused in the same way (HTTP/2 offered: %s)', async (http2) => {
    const url = `https://127.0.0.1:${server.port}`;
    const before = server.connections;
    const verdict = await call(upstreamsWith(new Egress(rules())), url, { upstream: { http2 } });
    expect(verdict).toMatchObject({ kind: 'not_executed', cause: 'egress_refused', sent: false });
    expect(server.connections).toBe(before);
  });

  test('a redirect to another host is not followed', async () => {
    server.script({
      at: 'request',
      send: 'HTTP/1.1 307 X\r\nlocation: http://127.0.0.2/\r\ncontent-length: 0\r\n\r\n',
      then: 'keep',
    });
    const before = server.requests.length;
    const verdict = await call(upstreamsWith(new Egress(rules('', '127.0.0.1'))), server.url);
    expect(verdict).toMatchObject({ kind: 'not_executed', cause: 'http_307' });
    expect(server.requests).toHaveLength(before + 1);
  });

  test('many calls at once to a forbidden host all end', async () => {
    const upstreams = upstreamsWith(new Egress(rules()));
    const verdicts = await Promise.all(Array.from({ length: 50 }, () => call(upstreams, server.url)));
    for (const verdict of verdicts) expect(verdict).toMatchObject({ cause: 'egress_refused' });
  });
});
