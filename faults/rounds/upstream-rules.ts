import type { Rule } from '../../examples/upstream/behaviour.js';
import type { RoundPlan } from './plan.js';

/** What the upstream is told before the load begins: first what is about one intent, then what always holds. */
export function upstreamRules({ intents, standing }: RoundPlan): Rule[] {
  const own = intents.flatMap(({ ref, upstream }) =>
    upstream.requests.map((behaviour): Rule => ({ match: { bodyContains: ref }, behaviour })),
  );
  return [...own, ...standing];
}
