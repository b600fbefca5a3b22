import { Bus } from '@intendant/bus';
import { Refusal, type Session } from '@intendant/contracts';
import { Store } from '@intendant/store';
import { Controller, Delete, Get, Post, Req, Res } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiBody, ApiExcludeEndpoint, ApiOkResponse, ApiOperation, ApiQuery, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Authentication } from '../authentication.js';
import { bytesOfAnyType } from '../body-parsers.js';
import { forwarded } from '../forwarded.js';
import { ForAgents } from '../openapi-decorators.js';
import { askedWait } from '../prefer.js';
import { ToolsQuery } from '../queries.js';
import { readMessage } from '../read-message.js';
import { AgentCalls } from './agent-calls.js';
import { Cancellations } from './cancellations.js';
import { Hosts } from './hosts.js';
import { McpErrors } from './mcp-errors.js';
import type { View } from './mcp-server.js';

/** Longest wait of a call that says nothing of its patience, in seconds. */
const patience = 30;

/** The Model Context Protocol over streamable HTTP, without sessions. */
@ApiTags('agents')
@ForAgents()
@Controller('mcp')
export class McpController {
  private readonly calls: AgentCalls;
  private readonly cancellations = new Cancellations();

  constructor(
    private readonly authentication: Authentication,
    private readonly store: Store,
    private readonly hosts: Hosts,
    private readonly errors: McpErrors,
    bus: Bus,
  ) {
    this.calls = new AgentCalls(bus, store);
  }

  @Post()
  @RouteConfig(bytesOfAnyType)
  @ApiOperation({
    summary: 'The Model Context Protocol (streamable HTTP)',
    description:
      'Revisions 2026-07-28, 2025-11-25 and 2025-06-18, without sessions. Everything that fails is a JSON-RPC error.',
  })
  @ApiQuery({
    name: 'namespace',
    required: false,
    description: 'Lists the tools of one namespace.',
    example: 'payments',
  })
  @ApiQuery({ name: 'tools', required: false, enum: ['search'], description: 'Lists no tools but a search for them.' })
  @ApiQuery({
    name: 'untrusted',
    required: false,
    enum: ['structured'],
    description: 'Has what was written outside in structured content, too, for hosts that keep it from the model.',
  })
  @ApiBody({ schema: { type: 'object', additionalProperties: true, description: 'One JSON-RPC message.' } })
  @ApiOkResponse({ description: 'The answer, as JSON or as server-sent events.' })
  post(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.serve(request, reply);
  }

  @Get()
  @ApiExcludeEndpoint()
  get(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.serve(request, reply);
  }

  @Delete()
  @RouteConfig(bytesOfAnyType)
  @ApiExcludeEndpoint()
  delete(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.serve(request, reply);
  }

  private async serve(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    this.hosts.check(request);
    const session = await this.authentication.agent(request);
    await this.refuseHomeless(session);
    // Twenty megabytes and a fifth of a second that gateways without such callers do without.
    const { serveMcp } = await import('./mcp-server.js');
    const response = await serveMcp(
      this.calls,
      {
        caller: { session, headers: forwarded(request) },
        cancellations: this.cancellations,
        view: await viewOf(request),
        waitMs: (askedWait(request) ?? patience) * 1_000,
        explain: (failure) => this.errors.explain(failure, request),
      },
      messageOf(request, reply, this.hosts.baseUrl(request)),
      request.body,
    );
    await reply.send(response);
  }

  /** A token whose run does not exist is nobody's. One of a closed run still reads what became of its intents. */
  private async refuseHomeless({ runId, tenant }: Session): Promise<void> {
    const run = await this.store.runs.recall(runId);
    if (run?.tenant === tenant) return;
    throw new Refusal('unauthenticated', 'The run of this token does not exist. The agent runtime has to open one.');
  }
}

/** The request without its body, as the SDK takes it; aborted when the caller hangs up, which ends its waiting. */
function messageOf({ method, url, headers }: FastifyRequest, reply: FastifyReply, baseUrl: string): Request {
  const gone = new AbortController();
  reply.raw.once('close', () => gone.abort());
  const wanted = Object.entries(headers).filter(
    ([name, value]) => typeof value === 'string' && /^(accept|content-type|mcp-.*)$/.test(name),
  ) as [string, string][];
  return new Request(new URL(url, baseUrl), { method, headers: wanted, signal: gone.signal });
}

class ViewQuery extends ToolsQuery {}

async function viewOf({ query }: FastifyRequest): Promise<View> {
  const { tools, untrusted, ...rest } = query as Record<string, unknown>;
  const { namespace } = await readMessage(ViewQuery, rest);
  return { namespace, search: isSaid({ tools }, 'search'), outside: isSaid({ untrusted }, 'structured') };
}

/** @throws Refusal `invalid_message` where it says something else */
function isSaid(field: Record<string, unknown>, word: string): boolean {
  const [[name, value] = []] = Object.entries(field);
  if (value === undefined || value === word) return value === word;
  throw new Refusal('invalid_message', `/${name}: expected ${word}, or nothing.`);
}
