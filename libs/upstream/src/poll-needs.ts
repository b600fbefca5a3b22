import type { Upstream } from '@intendant/contracts';

const acceptedField = /\{\{\s*accepted\.(.*?)\s*\}\}/g;

/**
 * Fields of what an upstream accepted by which it is asked later; `all` where code that is not ours reads it, which may
 * take any.
 */
export function neededByPoll(upstream: Upstream): readonly string[] | 'all' {
  if (upstream.poll === null) return [];
  if (upstream.kind !== 'http') return 'all';
  const { path, headers } = upstream.poll;
  const templates = [path, ...Object.values(headers)];
  return templates.flatMap((template) => [...template.matchAll(acceptedField)].map(([, field = '']) => field));
}
