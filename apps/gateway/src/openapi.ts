import { HealthModule } from '@intendant/runtime';
import type { Type } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { asyncApi } from './asyncapi/asyncapi.js';
import { schemas } from './openapi-schemas.js';

/**
 * Serves the API documents, of HTTP at `/openapi.json` with a page that shows it at `/docs`, and of NATS at
 * `/asyncapi.json`; made when first asked for.
 */
export function serveDocuments(app: NestFastifyApplication, gateway: Type): void {
  SwaggerModule.setup('docs', app, () => describe(app, gateway), { jsonDocumentUrl: 'openapi.json', raw: ['json'] });
  let made: object | undefined;
  app.getHttpAdapter().get('/asyncapi.json', (_: FastifyRequest, reply: FastifyReply) => {
    made ??= asyncApi(describe(app, gateway).components?.schemas ?? {});
    return reply.send(made);
  });
}

function describe(app: NestFastifyApplication, gateway: Type): OpenAPIObject {
  const bearer = (description: string, bearerFormat?: string) => ({
    type: 'http' as const,
    scheme: 'bearer',
    description,
    ...(bearerFormat && { bearerFormat }),
  });
  const base = new DocumentBuilder()
    .setTitle('Intendant')
    .setDescription('A durable gateway between AI agents and tools with side effects.')
    .setVersion('1')
    .setOpenAPIVersion('3.1.0')
    .addBearerAuth(bearer('Service key of a trusted agent runtime.'), 'serviceKey')
    .addBearerAuth(bearer('Run token of an agent.', 'JWT'), 'runToken')
    .addBearerAuth(bearer('Operator key of a person, with roles.'), 'operatorKey')
    .addApiKey({ type: 'apiKey', in: 'header', name: 'X-Slack-Signature' }, 'slackSignature')
    .build();
  const config = { ...base, components: { ...base.components, schemas } };
  return SwaggerModule.createDocument(app, config, { include: [gateway, HealthModule] });
}
