/** What an agent or operator did and was told; `invoke` first, then at most one of the others. */
export interface ClientEntry {
  readonly at: number;
  /** The same for the entries of one request; new for every repetition. */
  readonly requestId: string;
  readonly phase: 'invoke' | 'answered' | 'unanswered';
  readonly operation: 'submit' | 'get' | 'cancel' | 'replay' | 'resolve' | 'approve' | 'refuse';
  readonly via: 'http' | 'nats_request' | 'nats_publish';
  /** What the rig calls this intent; the arguments carry it to the upstream. */
  readonly ref: string;
  readonly tool: string;
  readonly runId: string;
  readonly stepId: string | null;
  /** Of a submit: a hash of its arguments; two submits of one step with different ones are a conflict. */
  readonly argsHash: string | null;
  readonly answer?: ClientAnswer;
  /** Of `unanswered`: what the client saw instead. */
  readonly problem?: string;
}

export interface ClientAnswer {
  /** Of HTTP; null where there is none. */
  readonly httpStatus: number | null;
  readonly intentId: string | null;
  /** `status` of the result, as the public contract names it; null where the answer is an error only. */
  readonly status: string | null;
  readonly code: string | null;
  /** `executed`, `not_executed`, `unknown`, `undecided`; null where none was told. */
  readonly outcome: string | null;
  readonly replayed: boolean;
  /** What the tool gave, where the answer has it. */
  readonly data?: unknown;
}
