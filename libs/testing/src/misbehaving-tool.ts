import { defaultApproval, type HttpUpstream, type LookupDefinition, type ToolDefinition } from '@intendant/contracts';

export interface ToolChanges {
  readonly tool?: Partial<Omit<ToolDefinition, 'upstream'>>;
  readonly upstream?: Partial<HttpUpstream>;
  readonly lookup?: Partial<LookupDefinition>;
  readonly limits?: Partial<ToolDefinition['limits']>;
}

/** A destructive tool with short limits that POSTs its arguments to `/act` of the given server, and can be looked up. */
export function toolAt(
  baseUrl: string,
  changes: ToolChanges = {},
): ToolDefinition & { readonly upstream: HttpUpstream } {
  return {
    name: 'test.act',
    version: 1,
    description: 'Acts.',
    effect: 'destructive',
    reversible: null,
    permission: 'test:act',
    phases: null,
    input: { type: 'object' },
    output: null,
    inject: {},
    limits: {
      ...{ connectMs: 2_000, callMs: 10_000, noticeMs: null, concurrency: 8, rate: null, cost: null },
      ...changes.limits,
    },
    businessKey: null,
    similar: null,
    identifiers: [],
    whenTainted: 'allow',
    approval: defaultApproval,
    terms: {
      effect: 'destructive',
      guarantee: 'lookup',
      lookup: 'authoritative',
      maxAttempts: 3,
      leaseMs: 15_000,
      settleMs: 1_000,
      spacingMs: 100,
      retentionMs: 0,
      deadlineMs: 60_000,
      backoffMs: 100,
      poll: null,
    },
    upstream: {
      kind: 'http',
      name: 'misbehaving',
      concurrency: 8,
      outcomes: [],
      credential: null,
      baseUrl,
      method: 'POST',
      path: '/act',
      headers: {},
      body: '$args',
      http2: false,
      statuses: {},
      poll: null,
      lookup: {
        method: 'GET',
        path: '/acts?key={{key}}',
        headers: {},
        present: '$count(data) > 0',
        receipt: 'data[0]',
        count: null,
        parts: null,
        absentStatuses: [],
        ...changes.lookup,
      },
      ...changes.upstream,
    },
    sandbox: null,
    contract: {},
    contractDigest: '0'.repeat(64),
    fileDigest: '0'.repeat(64),
    file: 'test.act.tool.yaml',
    ...changes.tool,
  };
}
