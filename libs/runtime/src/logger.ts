import type { LoggerService } from '@nestjs/common';
import { pino } from 'pino';

export type Logger = pino.Logger;

/**
 * Structured JSON lines on standard output, or on standard error where the output is an answer. Credentials never
 * reach a line: they are cut out by path.
 */
export function createLogger(service: string, level: string, output: 'stdout' | 'stderr' = 'stdout'): Logger {
  const options = {
    level,
    base: { service },
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: { paths: ['*.authorization', 'authorization', '*.token', 'token', '*.password'], censor: '[redacted]' },
  };
  return pino(options, pino.destination(output === 'stdout' ? 1 : 2));
}

/** Nest's own messages through the same logger; what Nest calls `log` is routine and goes to debug. */
export class NestLogger implements LoggerService {
  constructor(private readonly logger: Logger) {}

  log(message: unknown, ...rest: unknown[]): void {
    this.logger.debug({ context: rest.at(-1) }, String(message));
  }
  error(message: unknown, ...rest: unknown[]): void {
    const error = message instanceof Error ? message : undefined;
    this.logger.error({ err: error, context: rest.at(-1) }, error ? error.message : String(message));
  }
  warn(message: unknown, ...rest: unknown[]): void {
    this.logger.warn({ context: rest.at(-1) }, String(message));
  }
  debug(message: unknown, ...rest: unknown[]): void {
    this.logger.trace({ context: rest.at(-1) }, String(message));
  }
}
