import 'reflect-metadata';
import { createHash } from 'node:crypto';
import { connectBus, NatsStrategy, OnRequest, type RpcRequest } from '@intendant/bus';
import { RunTokens } from '@intendant/credentials';
import { createLogger, type Environment } from '@intendant/runtime';
import { Controller, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { Patience } from './patience.js';
import { serve } from './serve.js';

const digest = (key: string) => createHash('sha256').update(key).digest('hex');

/** Credentials of every kind, for tenant acme unless the name says otherwise. */
export const keys = {
  secret: 'a secret of the specs, longer than 32 bytes',
  service: 'service-key',
  otherService: 'service-key-of-umbrella',
  operator: 'operator-key',
  viewer: 'viewer-key',
  otherOperator: 'operator-key-of-umbrella',
  everywhere: 'operator-key-of-all',
} as const;

export function environment(databaseUrl: string, natsUrl: string): Environment {
  return {
    INTENDANT_DATABASE_URL: databaseUrl,
    INTENDANT_NATS_URL: natsUrl,
    INTENDANT_TOKEN_SECRET: keys.secret,
    INTENDANT_SERVICE_KEYS: `bot@acme=${digest(keys.service)},bot@umbrella=${digest(keys.otherService)}`,
    INTENDANT_OPERATOR_KEYS: [
      `olga@acme:operator=${digest(keys.operator)}`,
      `vera@acme:viewer=${digest(keys.viewer)}`,
      `otto@umbrella:viewer+operator=${digest(keys.otherOperator)}`,
      `root@*:admin=${digest(keys.everywhere)}`,
    ].join(','),
    INTENDANT_HTTP_PORT: '0',
  };
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Record<string, unknown>;
}

export interface CallOptions {
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
  readonly signal?: AbortSignal;
}

export interface TestGateway {
  readonly url: string;
  call(method: string, path: string, credential: string | null, options?: CallOptions): Promise<Answer>;
  close(): Promise<void>;
}

/** The real gateway on a free port; `patience` with slow clients for tests, which cannot wait. */
export async function startGateway(env: Environment, patience?: Patience): Promise<TestGateway> {
  const app = await serve(env, createLogger('gateway', 'silent'), patience);
  const url = await app.getUrl();
  return {
    url,
    close: () => app.close(),
    call: async (method, path, credential, { body, headers, signal } = {}) => {
      const raw = typeof body === 'string' || body instanceof Uint8Array;
      const response = await fetch(url + path, {
        method,
        headers: {
          ...(credential !== null && { authorization: `Bearer ${credential}` }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: raw ? (body as string) : JSON.stringify(body) }),
        ...(signal && { signal }),
      });
      const text = await response.text();
      return { status: response.status, headers: response.headers, body: text === '' ? {} : JSON.parse(text) };
    },
  };
}

/** Stands for the services that answer requests on the bus. */
export async function answerOn(natsUrl: string, subject: string, handle: (request: RpcRequest) => unknown) {
  @Controller()
  class Responder {
    @OnRequest(subject)
    run(request: RpcRequest) {
      return handle(request);
    }
  }
  @Module({ controllers: [Responder] })
  class ResponderModule {}
  const bus = await connectBus({ url: natsUrl, name: 'responder' });
  const strategy = new NatsStrategy({ bus, service: 'responder' });
  const app = await NestFactory.createMicroservice(ResponderModule, { strategy, logger: false });
  await app.listen();
  await bus.flush();
  return async () => {
    await app.close();
    await bus.close();
  };
}

/** A run token as the gateway would issue it. */
export function tokenFor(runId: string, tenant = 'acme', expiresInMs = 60_000): Promise<string> {
  const expiresAt = Date.now() + expiresInMs;
  return new RunTokens(keys.secret).issue({
    tenant,
    runId,
    user: 'ada',
    permissions: [],
    phase: null,
    profile: 'batch',
    expiresAt,
  });
}
