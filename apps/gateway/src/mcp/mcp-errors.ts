import { type ErrorObject, errorObject } from '@intendant/contracts';
import { Injectable, Logger } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { explainFailure, statusOf } from '../explain-failure.js';
import { Hosts } from './hosts.js';
import { Unparsable } from './unparsable.js';

export const mcpPath = '/mcp';
export const metadataPath = '/.well-known/oauth-protected-resource';

/** JSON-RPC 2.0, section 5.1; -32000 is MCP's for what its transport refuses. */
const codes = { unparsable: -32_700, invalid: -32_600, internal: -32_603, refused: -32_000 } as const;

export function isMcp({ url }: FastifyRequest): boolean {
  return url.split('?')[0] === mcpPath;
}

/** Answers what fails before there is a message to answer: a JSON-RPC error without id, with the HTTP status it has anywhere. */
@Injectable()
export class McpErrors {
  private readonly logger = new Logger('mcp');

  constructor(private readonly hosts: Hosts) {}

  answer(failure: unknown, request: FastifyRequest, reply: FastifyReply): void {
    const unparsable = failure instanceof Unparsable;
    const error = unparsable ? errorObject('invalid_message', failure.message) : this.explain(failure, request);
    const status = statusOf(failure, error);
    if (status === 401) reply.header('WWW-Authenticate', this.challenge(request));
    if (status === 503) reply.header('Retry-After', '1');
    const body = {
      jsonrpc: '2.0',
      id: null,
      error: {
        code: unparsable ? codes.unparsable : codeOf(error, status),
        message: error.message,
        data: { error },
      },
    };
    void reply.status(status).type('application/json').send(JSON.stringify(body));
  }

  explain(failure: unknown, { method, url }: FastifyRequest): ErrorObject {
    const known = explainFailure(failure, { method, url });
    if (known !== null) return known;
    this.logger.error(failure instanceof Error ? failure : String(failure), `${method} ${mcpPath}`);
    return internal;
  }

  /** RFC 6750 and RFC 9728: where somebody without a token can read what is needed. */
  private challenge(request: FastifyRequest): string {
    const where = `resource_metadata="${this.hosts.baseUrl(request)}${metadataPath}${mcpPath}"`;
    return request.headers.authorization === undefined ? `Bearer ${where}` : `Bearer error="invalid_token", ${where}`;
  }
}

const internal: ErrorObject = {
  code: 'internal',
  category: 'internal',
  message: 'The request failed inside Intendant; the log of the gateway says why.',
  retryable: false,
  nextAction: 'wait',
  details: {},
};

function codeOf({ code, category }: ErrorObject, status: number): number {
  // As the SDK answers another content type.
  if (status === 415) return codes.refused;
  if (code === 'invalid_message') return codes.invalid;
  return category === 'internal' ? codes.internal : codes.refused;
}
