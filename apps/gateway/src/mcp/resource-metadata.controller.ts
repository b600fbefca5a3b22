import { Controller, Get, Req } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { Hosts } from './hosts.js';
import { mcpPath, metadataPath } from './mcp-errors.js';

/** What a client that was refused is told about credentials (RFC 9728). */
@ApiTags('agents')
@Controller()
export class ResourceMetadataController {
  constructor(private readonly hosts: Hosts) {}

  @Get(`${metadataPath}${mcpPath}`)
  @ApiOperation({
    summary: 'What /mcp needs of its callers (RFC 9728)',
    description: 'No authorization server is named: run tokens come from the agent runtime, by POST /v1/runs.',
  })
  @ApiOkResponse({ description: 'The metadata.' })
  ofMcp(@Req() request: FastifyRequest): object {
    return this.metadata(request, mcpPath);
  }

  @Get(metadataPath)
  @ApiOperation({ summary: 'The same for the gateway as a whole, which clients ask for where they look nowhere else' })
  @ApiOkResponse({ description: 'The metadata.' })
  ofAll(@Req() request: FastifyRequest): object {
    return this.metadata(request, '/');
  }

  /** Its `resource` has to be the one whose document was asked for (RFC 9728, section 3.3). */
  private metadata(request: FastifyRequest, path: string): object {
    this.hosts.check(request);
    return {
      resource: `${this.hosts.baseUrl(request)}${path}`,
      resource_name: 'Intendant',
      bearer_methods_supported: ['header'],
    };
  }
}
