import type { Facts, PastCall, RunFacts } from './variables.js';

/** Facts of a refund by an interactive run of acme, changed; a past call is a committed refund a minute ago. */
export function factsOf({
  session,
  tool,
  run,
  ...others
}: {
  readonly session?: Partial<Facts['session']>;
  readonly tool?: Partial<Facts['tool']>;
  readonly run?: Omit<Partial<RunFacts>, 'history'> & { readonly history?: readonly Partial<PastCall>[] };
} & Partial<Pick<Facts, 'args' | 'cost' | 'sandbox'>> = {}): Facts {
  return {
    session: {
      tenant: 'acme',
      user: 'ada',
      profile: 'interactive',
      phase: null,
      permissions: ['payments:*'],
      ...session,
    },
    tool: {
      ...{ name: 'payments.refund.create', version: 1, effect: 'destructive', permission: 'payments:refund' },
      reversible: null,
      ...tool,
    },
    args: {},
    sandbox: false,
    cost: 0,
    run: {
      ...{ ageSeconds: 60, tainted: false, calls: 0, mutating: 0, destructive: 0, cost: 0 },
      denied: [],
      ...run,
      history: (run?.history ?? []).map((past) => ({
        ...{
          tool: 'payments.refund.create',
          effect: 'destructive',
          state: 'committed',
          args: {},
          cost: 0,
          ageSeconds: 60,
        },
        ...past,
      })),
    },
    ...others,
  };
}
