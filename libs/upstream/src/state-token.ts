import type { TokenDefinition, TokenUse } from '@intendant/contracts';
import type { Json } from '@intendant/intent';
import type { UpstreamRequest } from './adapter.js';
import { MappingError } from './mapping-error.js';

/** What an approver reads when the token of the call is not the current one. */
export const stateChanged = 'what was approved is not what is there any more';

const longest = 512;
/** RFC 9110, 5.5: what a header can carry. */
const headerValue = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;
/** One entity tag (RFC 9110, 8.8.3), or what some upstreams have in its place. A list, or `*`, would hold for other states, too. */
const entityTag = /^(?:(?:W\/)?"[\x21\x23-\x7e]*"|[\w.~+/=:-]+)$/;

/** Why what a preview brought is no token that could be applied so; null when it is one. */
export function tokenMistake(token: Json | undefined, { kind }: TokenUse): string | null {
  if (token === undefined || token === null || token === '') return '"token" selects nothing for this answer';
  if (typeof token === 'number') {
    return Number.isSafeInteger(token) ? null : `"token" is ${token}; a number must be whole and exact, or else a text`;
  }
  if (typeof token !== 'string') return '"token" is neither text nor a number for this answer';
  if (token.length > longest) return `"token" has ${token.length} characters; at most ${longest} are kept`;
  if (kind === 'header' && !headerValue.test(token)) return '"token" has characters that a header cannot carry';
  if (kind === 'if_match' && !entityTag.test(token)) return '"token" is not one entity tag, such as "v7"';
  return null;
}

/** The header of a call that carries its token, as name and value; empty where none does. @throws MappingError */
export function tokenHeader(request: UpstreamRequest): string[] {
  const { stateToken } = request;
  const apply = tokenOf(request)?.apply;
  if (stateToken === undefined || (apply?.kind !== 'if_match' && apply?.kind !== 'header')) return [];
  const mistake = tokenMistake(stateToken, apply);
  if (mistake !== null) throw new MappingError(mistake);
  return [apply.kind === 'header' ? apply.name : 'If-Match', String(stateToken)];
}

/** The request with its token among the arguments, where the upstream wants it there. */
export function withTokenField(request: UpstreamRequest): UpstreamRequest {
  const { stateToken, args } = request;
  const apply = tokenOf(request)?.apply;
  if (stateToken === undefined || apply?.kind !== 'field') return request;
  return { ...request, args: { ...args, [apply.name]: stateToken } };
}

/** Statuses by which the upstream says that the token which this call carries is not the current one. */
export function changedStatuses(request: UpstreamRequest): readonly number[] {
  const token = tokenOf(request);
  return request.stateToken === undefined || token === null || token.apply.kind === 'reread'
    ? []
    : token.changedStatuses;
}

/** Null where the tool's preview brings no token. */
export function tokenOf({ tool }: Pick<UpstreamRequest, 'tool'>): TokenDefinition | null {
  return tool.approval.preview?.token ?? null;
}
