import { applyDecorators, UseFilters } from '@nestjs/common';
import { EventPattern, MessagePattern } from '@nestjs/microservices';
import { PassThroughFilter } from './pass-through.filter.js';
import type { DurableSpec } from './topology.js';

/** Marks the handlers that {@link NatsStrategy} serves. */
export const natsTransport = Symbol('intendant.nats');

export interface WorkOptions extends Omit<DurableSpec, 'subject' | 'optional'> {
  /** Handlers running at once in this process. */
  readonly concurrency: number;
}

export interface RequestHandling {
  /** Requests handled at once, where it is not the limit of the strategy; more are answered `unavailable`. */
  readonly limit?: number;
}

export interface HintOptions {
  /** One replica of the service gets each hint, instead of every replica. */
  readonly queue?: boolean;
}

/** What a decorator says about its handler, as the strategy receives it. */
export type Endpoint =
  | ({ readonly kind: 'work' } & WorkOptions)
  | ({ readonly kind: 'request' } & RequestHandling)
  | ({ readonly kind: 'hint' } & HintOptions);

/**
 * Handles messages of a durable consumer: `(message: WorkMessage) => Promise<void>`. Acknowledged when the handler
 * returns, or earlier by `message.ack()`; when it throws, delivered again after a growing delay, without end.
 */
export const OnWork = (subject: string, options: WorkOptions): MethodDecorator =>
  event(subject, { kind: 'work', ...options });

/**
 * Answers requests: `(request: RpcRequest) => Promise<object | string | Uint8Array>`; an object is sent as JSON.
 * A thrown `Refusal` is answered with `{ error }` and the header `Intendant-Error: <code>`.
 */
export const OnRequest = (subject: string, options: RequestHandling = {}): MethodDecorator =>
  applyDecorators(
    MessagePattern<string>(subject, natsTransport, { kind: 'request', ...options } satisfies Endpoint),
    UseFilters(PassThroughFilter),
  );

/** Hears hints: `(hint: HintMessage) => void | Promise<void>`. */
export const OnHint = (subject: string, options: HintOptions = {}): MethodDecorator =>
  event(subject, { kind: 'hint', ...options });

// The explicit type argument selects Nest's untyped overload.
function event(subject: string, endpoint: Endpoint): MethodDecorator {
  return applyDecorators(EventPattern<string>(subject, natsTransport, endpoint), UseFilters(PassThroughFilter));
}
