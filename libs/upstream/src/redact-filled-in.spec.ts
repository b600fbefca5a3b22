import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MisbehavingServer, response } from '@intendant/testing';
import { parseToolFile } from '@intendant/tools';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Upstreams } from './index.js';

/** What a person would put into the environment, none of which may come back. */
const token = 'sk_live/4f9c+2=';
const environment = {
  TOKEN: token,
  WEBHOOK_URL: `https://robot:pass-wor%2Fd@hooks.example/in?api_key=${encodeURIComponent(token)}`,
  REGION: 'frankfurt',
};

let server: MisbehavingServer;
let adapter: Upstreams;
let attempts = 0;

beforeAll(async () => {
  server = await MisbehavingServer.start();
  adapter = new Upstreams(() => null);
});
afterAll(async () => {
  await adapter.close();
  await server.stop();
});

function toolWith(upstream: string) {
  const text = `
apiVersion: intendant/v1
name: chat.message.send
version: 1
description: Send a message.
effect: write
permission: chat:send
input: { type: object, additionalProperties: false, required: [ref], properties: { ref: { type: string } } }
output: { type: object }
upstream:
  guarantee: none
  ${upstream}
`;
  return parseToolFile(join(tmpdir(), 'send.tool.yaml'), text, { ...environment, HERE: server.url });
}

const called = (upstream: string) =>
  adapter.call(
    {
      ...{ tool: toolWith(upstream), args: { ref: 'r-1' }, key: 'k', intentId: 'i', tenant: 't', runId: 'run_1' },
      ...{ sandbox: false, attemptId: `a-${++attempts}` },
    },
    { mayStart: () => true },
  );
async function answered(upstream: string, status: number, body: string) {
  server.script({ at: 'request', send: response(status, body), then: 'keep' });
  return called(upstream);
}

describe('a variable of the environment that an upstream repeats is taken out of texts', () => {
  // biome-ignore-start lint/suspicious/noTemplateCurlyInString: references of tool files
  test.each([
    ['in the path', 'http: { baseUrl: "${HERE}", method: POST, path: "/bot${TOKEN}/send" }'],
    ['in the query', 'http: { baseUrl: "${HERE}", method: POST, path: "/send?api_key=${TOKEN}" }'],
    ['in the path of the address', 'http: { baseUrl: "${HERE}/bot${TOKEN}", method: POST, path: /send }'],
    ['in the body', `http: { baseUrl: "\${HERE}", method: POST, path: /send, body: '{ "token": "\${TOKEN}" }' }`],
  ])('%s', async (_, upstream) => {
    const verdict = await answered(upstream, 500, `no route /bot${token}/send`);
    expect(verdict).toMatchObject({ kind: 'unknown', detail: 'no route /bot[redacted]/send' });
  });

  test.each([
    ['an argument', 'process: { argv: [sh, -c, "echo $1 >&2; exit 1", sh, "${TOKEN}"] }'],
    ['a part of an argument', 'process: { argv: [sh, -c, "echo --token=${TOKEN} >&2; exit 1"] }'],
    ['the environment', 'process: { argv: [sh, -c, "echo $LINE >&2; exit 1"], env: { LINE: "by {{ref}}: ${TOKEN}" } }'],
    ['the input', `process: { argv: [sh, -c, "cat >&2; exit 1"], input: '"\${TOKEN}"' }`],
  ])('of a program, in %s', async (_, upstream) => {
    const verdict = await called(upstream);
    expect(verdict).toMatchObject({ kind: 'unknown', cause: 'exit_1', detail: expect.stringContaining('[redacted]') });
    expect(JSON.stringify(verdict)).not.toContain('4f9c');
  });

  test('but not the address itself, of which only password and query may be secrets', async () => {
    const upstream = 'process: { argv: [sh, -c, "echo $1 >&2; exit 1", sh, "--to=${WEBHOOK_URL}"] }';
    expect(await called(upstream)).toMatchObject({
      detail: '--to=https://robot:[redacted]@hooks.example/in?api_key=[redacted]',
    });
    const here = 'http: { baseUrl: "${HERE}", method: POST, path: /send }';
    expect(await answered(here, 500, `not at ${server.url}`)).toMatchObject({ detail: `not at ${server.url}` });
  });
});

describe('it is taken out of data', () => {
  test.each([
    ['a header that holds a field of the request, too', 'headers: { X-Api-Key: "${TOKEN}.{{ref}}" }'],
    ['a header whose name tells nothing', 'headers: { X-Robot: "${TOKEN}" }'],
    ['a path', 'path: "/send?as=${TOKEN}"'],
  ])('where it stood in %s', async (_, field) => {
    const path = field.startsWith('path') ? '' : ', path: /send';
    const upstream = `http: { baseUrl: "\${HERE}", method: POST${path}, ${field} }`;
    const verdict = await answered(upstream, 200, JSON.stringify({ id: 'r-1', seen: `${token}.r-1` }));
    expect(verdict).toEqual({ kind: 'executed', data: { id: 'r-1', seen: '[redacted].r-1' } });
  });

  test('unless neither its name nor that of the header tells of a secret: receipts repeat such things rightly', async () => {
    const upstream = 'http: { baseUrl: "${HERE}", method: POST, path: "/${REGION}", headers: { X-At: "${REGION}" } }';
    const data = { id: 'r-1', region: environment.REGION };
    expect(await answered(upstream, 200, JSON.stringify(data))).toEqual({ kind: 'executed', data });
  });
  // biome-ignore-end lint/suspicious/noTemplateCurlyInString: references of tool files
});
