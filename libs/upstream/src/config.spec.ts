import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { toolAt } from '@intendant/testing';
import { loadTools, ToolFileError } from '@intendant/tools';
import { expect, onTestFinished, test } from 'vitest';
import { misfits, readUpstreamConfig } from './config.js';

const credentials = '{ payments: { bearer: tok_123456 }, mail: { header: X-Api-Key, value: key_123456 } }';
const config = readUpstreamConfig({ INTENDANT_EGRESS_HOSTS: 'api.example', INTENDANT_CREDENTIALS: credentials });
const tool = toolAt('https://api.example');
const { upstream } = tool;

test('a tool that this process can serve fits', async () => {
  const sandbox = { ...upstream, credential: 'mail' };
  expect(await misfits(config, { ...tool, upstream: { ...upstream, credential: 'payments' }, sandbox })).toEqual([]);
});

test('a tool whose host is not allowed does not fit, and its sandbox neither', async () => {
  const wrong = { ...upstream, baseUrl: 'https://other.example/v1' };
  const message = 'other.example:443 must not be called: it is not in INTENDANT_EGRESS_HOSTS';
  expect(await misfits(config, { ...tool, upstream: wrong })).toEqual([
    { path: ['upstream', 'http', 'baseUrl'], message },
  ]);
  expect(await misfits(config, { ...tool, sandbox: wrong })).toEqual([
    { path: ['upstream', 'sandbox', 'baseUrl'], message },
  ]);
});

test('a tool that names a credential nobody has does not fit, which is said once', async () => {
  const wrong = { ...upstream, credential: 'payment' };
  expect(await misfits(config, { ...tool, upstream: wrong, sandbox: wrong })).toEqual([
    {
      path: ['upstream', 'http', 'credential'],
      message: 'not in INTENDANT_CREDENTIALS, which has payments, mail',
    },
  ]);
});

test('a tool that sets the header of its credential does not fit', async () => {
  const headers = { 'x-api-key': 'own' };
  const lookup = { ...toolAt('').upstream.lookup, headers } as typeof upstream.lookup;
  const message = 'set by the credential; remove one of them';
  expect(await misfits(config, { ...tool, upstream: { ...upstream, credential: 'mail', headers, lookup } })).toEqual([
    { path: ['upstream', 'http', 'headers', 'x-api-key'], message },
    { path: ['upstream', 'lookup', 'headers', 'x-api-key'], message },
  ]);
});

test('nor does one whose preview sets it, or whose state token would', async () => {
  const request = { kind: 'http', method: 'GET', path: '/', headers: { 'X-Api-Key': 'own' }, body: null } as const;
  const token = { read: 'v', apply: { kind: 'header', name: 'x-api-key' }, changedStatuses: [412] } as const;
  const preview = { request, use: 'real', before: null, after: 'data', token } as const;
  const approval = { ...tool.approval, preview };
  const message = 'set by the credential; remove one of them';
  const wrong = { ...tool, approval, upstream: { ...upstream, credential: 'mail' } };
  expect(await misfits(config, wrong)).toEqual([
    { path: ['approval', 'preview', 'request', 'headers', 'X-Api-Key'], message },
    { path: ['approval', 'preview', 'apply', 'header'], message },
  ]);
});

test('what does not fit is told with file and line', async () => {
  const directory = await mkdtemp(path.join(os.tmpdir(), 'tools-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const file = path.join(directory, 'a.tool.yaml');
  await writeFile(
    file,
    `apiVersion: intendant/v1
name: a.read
version: 1
description: Reads.
effect: read
permission: a
input: { type: object, additionalProperties: false, properties: {} }
upstream:
  http:
    baseUrl: https://other.example
    method: GET
    path: /
    credential: payment
`,
  );
  const error = await loadTools(directory, {}, (each) => misfits(config, each)).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(ToolFileError);
  expect((error as ToolFileError).problems).toMatchObject([
    { file, line: 10, field: 'upstream.http.baseUrl', message: expect.stringContaining('INTENDANT_EGRESS_HOSTS') },
    { file, line: 13, field: 'upstream.http.credential', message: expect.stringContaining('INTENDANT_CREDENTIALS') },
  ]);
});
