import { afterAll, beforeAll, expect, test } from 'vitest';
import { Agent } from './clients.js';
import { HttpClient } from './http-client.js';
import type { Service } from './service.js';
import { Stack, tokenSecret } from './stack.js';

const next = 'the-next-token-secret-of-the-flow-tests-0123456789';
let stack: Stack;
let http: HttpClient;
beforeAll(async () => {
  stack = await Stack.start();
  http = new HttpClient(() => stack.url);
});
afterAll(() => stack?.stop());

/** Puts a process with these secrets in the place of the one that runs. */
async function restart(secret: string, previous: string): Promise<Service> {
  const [before] = stack.services.slice(-1);
  const service = await stack.launch('standalone', undefined, {
    INTENDANT_TOKEN_SECRET: secret,
    INTENDANT_TOKEN_SECRET_PREVIOUS: previous,
  });
  await before?.stop();
  return service;
}

async function agent(): Promise<Agent> {
  const { runId, token } = await http.openRun();
  return new Agent(stack.bus, () => stack.url, runId, token);
}

/** What becomes of a submit over HTTP, and of one over NATS. */
async function tried(by: Agent, stepId: string): Promise<string[]> {
  const message = (way: string) => ({
    tool: 'effects.keyed',
    args: { ref: `${stepId} ${way}` },
    stepId: `${stepId}-${way}`,
  });
  const overHttp = await by.postHttp(JSON.stringify(message('http')), { prefer: 'wait=20' });
  const overNats = await by.request(JSON.stringify(message('nats')), '20s');
  return [overHttp.body, overNats].map(({ status, error }) => error?.code ?? status);
}

test('the secret of tokens is changed while runs go on, and is of no use once it is forgotten', async () => {
  const works = ['committed', 'committed'];
  const old = await agent();
  expect(await tried(old, 'before')).toEqual(works);

  await restart(tokenSecret, next);
  const told = await agent();
  expect([await tried(old, 'told'), await tried(told, 'told')]).toEqual([works, works]);

  await restart(next, tokenSecret);
  const young = await agent();
  for (const each of [old, told, young]) expect(await tried(each, 'changed')).toEqual(works);

  await restart(next, '');
  const refused = ['unauthenticated', 'unauthenticated'];
  expect(await tried(young, 'after')).toEqual(works);
  for (const each of [old, told]) expect(await tried(each, 'after')).toEqual(refused);
  expect(await stack.store.intents.list({ runId: old.runId, limit: 10 })).toHaveLength(6);
});
