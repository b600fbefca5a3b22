import { Refusal, type Session } from '@intendant/contracts';
import {
  bearer,
  type KeyRing,
  type OperatorIdentity,
  type Role,
  type RunTokens,
  type ServiceIdentity,
} from '@intendant/credentials';
import type { FastifyRequest } from 'fastify';

/** Somebody who may look at an intent. */
export type Reader =
  | { readonly kind: 'agent'; readonly session: Session }
  | { readonly kind: 'operator'; readonly operator: OperatorIdentity };

/** Who is calling, from the `Authorization` header and nothing else. Every method throws a Refusal for anybody else. */
export class Authentication {
  constructor(
    private readonly services: KeyRing<ServiceIdentity>,
    private readonly tokens: RunTokens,
    private readonly operators: KeyRing<OperatorIdentity>,
  ) {}

  /** A trusted agent runtime, by its service key. */
  runtime(request: FastifyRequest): ServiceIdentity {
    const credential = credentialOf(request, 'a service key');
    const service = this.services.identify(credential);
    if (service) return service;
    if (this.operators.identify(credential)) throw wrongKind('An operator key', 'a service key');
    if (isToken(credential)) throw wrongKind('A run token', 'a service key');
    throw new Refusal('unauthenticated', 'This service key is not known.');
  }

  /** An agent, by its run token. */
  async agent(request: FastifyRequest): Promise<Session> {
    const credential = credentialOf(request, 'a run token');
    if (this.services.identify(credential)) throw wrongKind('A service key', 'a run token; open a run to get one');
    if (this.operators.identify(credential)) throw wrongKind('An operator key', 'a run token; open a run to get one');
    return this.tokens.verify(credential);
  }

  /** A person with that role in their tenant. Every role may look; `admin` may do everything. */
  operator(request: FastifyRequest, role: Role): OperatorIdentity {
    const credential = credentialOf(request, 'an operator key');
    const operator = this.operators.identify(credential);
    if (operator) return withRole(operator, role);
    if (this.services.identify(credential)) throw wrongKind('A service key', `an operator key with the role ${role}`);
    if (isToken(credential)) throw wrongKind('A run token', `an operator key with the role ${role}`);
    throw new Refusal('unauthenticated', 'This operator key is not known.');
  }

  /** An agent, or a person with that role. */
  async agentOrOperator(request: FastifyRequest, role: Role): Promise<Reader> {
    const operator = this.operators.identify(bearer(request.headers.authorization));
    if (operator) return { kind: 'operator', operator: withRole(operator, role) };
    return { kind: 'agent', session: await this.agent(request) };
  }
}

function credentialOf(request: FastifyRequest, wanted: string): string {
  const credential = bearer(request.headers.authorization);
  if (credential !== null) return credential;
  throw new Refusal('unauthenticated', `Send ${wanted} in the header Authorization: Bearer <credential>.`);
}

/** @throws Refusal `forbidden` */
export function withRole(operator: OperatorIdentity, role: Role): OperatorIdentity {
  const { roles, name } = operator;
  if (role === 'viewer' || roles.includes(role) || roles.includes('admin')) return operator;
  throw new Refusal('forbidden', `${name} has the roles ${roles.join(', ')}; this needs the role ${role}.`);
}

/** Three parts in base64url: a JWT in compact form (RFC 7519). */
function isToken(credential: string): boolean {
  return /^[\w-]+\.[\w-]+\.[\w-]+$/.test(credential);
}

function wrongKind(got: string, needed: string): Refusal {
  return new Refusal('forbidden', `${got} cannot be used here; this needs ${needed}.`);
}
