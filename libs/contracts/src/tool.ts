import type { Effect, JsonObject, Terms } from '@intendant/intent';
import type { ApprovalRules } from './approval-rules.js';
import type { Redaction } from './redaction.js';

/** A value of the run's session that the runtime fills in where the tool file says `inject`. */
export type SessionField = 'tenant' | 'user' | 'run';

/** What an HTTP status of this upstream means, where it differs from the general table (docs/outcomes.md). */
export type StatusMeaning = 'executed' | 'not_executed' | 'accepted' | 'unknown' | 'in_progress';

/**
 * One line of the tool's own reading of an answer, where the general rules (docs/outcomes.md) cannot know better: the
 * first whose `when` holds decides, before statuses and exit codes do.
 */
export interface OutcomeRule {
  /** JSONata over the answer; what it can see depends on the kind of upstream. True: the rule applies. */
  readonly when: string;
  readonly means: StatusMeaning;
  /** For `executed`: JSONata that extracts the receipt, which must satisfy the output schema. Null: the whole answer. */
  readonly receipt: string | null;
}

/** How the answer of a lookup is read; the same for every kind of upstream that answers with data. */
export interface LookupReading {
  /** JSONata over the answer: true when the effect is there. */
  readonly present: string;
  /** JSONata that extracts the receipt; it must satisfy the output schema. Null: the whole answer. */
  readonly receipt: string | null;
  /** JSONata over the answer: how many parts of the effect are there. Null: `present` alone decides. */
  readonly count: string | null;
  /** JSONata over `{ args }`: how many parts the whole effect has. Null: one. */
  readonly parts: string | null;
}

/** How an accepted request (202) is followed to its real end. */
export interface PollReading {
  /** JSONata over the answer: true when it was done. */
  readonly executed: string;
  /** JSONata over the answer: true when it was given up, so that nothing will happen any more. */
  readonly failed: string;
  /** As for a lookup. */
  readonly receipt: string | null;
}

/** The tool's `exists()`: how to ask the upstream whether a request took effect. */
export interface LookupDefinition extends LookupReading {
  readonly method: 'GET' | 'POST';
  /** Path with `{{key}}`, `{{intentId}}` or `{{args.field}}`, percent-encoded when filled in. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** HTTP statuses (400 to 499) by which the upstream says that nothing is there; every other but 200 says nothing. */
  readonly absentStatuses: readonly number[];
}

export interface HttpPoll extends PollReading {
  readonly method: 'GET' | 'POST';
  /** As for a lookup, with `{{accepted.field}}` for what the upstream answered with its 202. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

interface AnyUpstream {
  /** What fails and slows down as one: tools with the same name share circuit breaker and concurrency limit. */
  readonly name: string;
  /** Attempts open at once in one dispatcher over all tools of this upstream. */
  readonly concurrency: number;
  readonly outcomes: readonly OutcomeRule[];
  /** Name of the credential that the calls carry; null: none. */
  readonly credential: string | null;
}

export interface HttpUpstream extends AnyUpstream {
  readonly kind: 'http';
  readonly baseUrl: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path with `{{args.field}}`, `{{key}}`; percent-encoded when filled in. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** JSONata over `{ args, key, intentId, attemptId }`, `$args` bound to the arguments with injected fields. Null: no body. */
  readonly body: string | null;
  /** Offer HTTP/2 when the connection is made; HTTP/1.1 only when false. */
  readonly http2: boolean;
  readonly statuses: Readonly<Record<number, StatusMeaning>>;
  readonly lookup: LookupDefinition | null;
  readonly poll: HttpPoll | null;
}

/** Another tool of the same MCP server, called with arguments from a JSONata expression. */
export interface McpCall {
  readonly tool: string;
  /** JSONata over `{ args, key, intentId, accepted }`, `$args` bound to the arguments. */
  readonly arguments: string;
}

/** A tool of an MCP server (revision 2025-11-25 or later), over streamable HTTP or as a child process on stdio. */
export interface McpUpstream extends AnyUpstream, McpCall {
  readonly kind: 'mcp';
  readonly server:
    | { readonly transport: 'http'; readonly url: string; readonly headers: Readonly<Record<string, string>> }
    | {
        readonly transport: 'stdio';
        readonly command: readonly string[];
        readonly env: Readonly<Record<string, string>>;
      };
  readonly lookup: (LookupReading & McpCall) | null;
  readonly poll: (PollReading & McpCall) | null;
}

/** A program with its arguments, as the system takes them; no shell sees them. */
export type Argv = readonly [program: string, ...args: string[]];

/** A local program: JSON in on stdin, JSON out on stdout, one process per attempt. */
export interface ProcessUpstream extends AnyUpstream {
  readonly kind: 'process';
  readonly argv: Argv;
  /** Folder it runs in: that of the tool file unless it says otherwise. */
  readonly cwd: string;
  /** The whole environment beside PATH and LANG: nothing of the service's own is handed on. */
  readonly env: Readonly<Record<string, string>>;
  /** JSONata over `{ args, key, intentId, attemptId }`: what it reads on stdin. */
  readonly input: string;
  /** Most bytes of stdout that are read. */
  readonly maxOutputBytes: number;
  /** What exit statuses mean; left out: 0 is `executed`, everything else `unknown`. */
  readonly exits: Readonly<Record<number, StatusMeaning>>;
  readonly lookup: (LookupReading & { readonly argv: Argv; readonly absentExits: readonly number[] }) | null;
  readonly poll: (PollReading & { readonly argv: Argv }) | null;
}

/** A TypeScript or JavaScript file whose default export is made by `defineTool`. */
export interface ModuleUpstream extends AnyUpstream {
  readonly kind: 'module';
  /** Absolute path. */
  readonly path: string;
  /** The module's own functions answer; here is only whether the tool file declares that there are such. */
  readonly lookup: Record<string, never> | null;
  readonly poll: Record<string, never> | null;
}

export type Upstream = HttpUpstream | McpUpstream | ProcessUpstream | ModuleUpstream;

/** A value that the environment filled into the requests of a tool. */
export interface FilledIn {
  readonly value: string;
  /** Of the variable, and of the header, environment variable or query field that it stands in: they tell what it is. */
  readonly names: readonly string[];
}

/** A call that looks like one of before, by the values of some arguments. */
export interface Similar {
  /** JSON Pointers into the arguments. */
  readonly fields: readonly string[];
  readonly windowMs: number;
  /** `shadow`: it is only noted; `approve`: a person has to agree. */
  readonly mode: 'shadow' | 'approve';
}

/** An argument that names something, and where its value has to come from. */
export interface Identifier {
  /** JSON Pointer into the arguments; `*` for each item. */
  readonly pointer: string;
  /** Results that may bring it: `orders.get#/id`. */
  readonly sources: readonly string[];
}

/** A bucket of `count` tokens that fills up in `perMs` milliseconds: so many at once, and so many per time. */
export interface Rate {
  readonly count: number;
  readonly perMs: number;
}

/** What makes two calls the same business operation, whichever run they come from. */
export interface BusinessKey {
  /** JSON Pointers (RFC 6901) into the arguments; each names something that every call has. */
  readonly fields: readonly string[];
  /** How long an operation is remembered. */
  readonly windowMs: number;
}

/** A tool as loaded and checked from its file. The model sees name, description, schemas and effect; nothing else. */
export interface ToolDefinition {
  readonly name: string;
  readonly version: number;
  readonly description: string;
  readonly effect: Effect;
  readonly reversible: boolean | null;
  readonly permission: string;
  /** Phases of a run in which it may be called; null: in all. */
  readonly phases: readonly string[] | null;
  /** JSON Schema 2020-12. */
  readonly input: JsonObject;
  readonly output: JsonObject | null;
  readonly inject: Readonly<Record<string, SessionField>>;
  readonly limits: {
    readonly connectMs: number;
    /** From the first byte of the request to the last of the answer. */
    readonly callMs: number;
    /** After this long without a verdict the caller is told that it is still being worked on; null: never. */
    readonly noticeMs: number | null;
    /** Attempts of this tool open at once in one dispatcher. */
    readonly concurrency: number;
    /** Calls of one tenant, over all replicas; null: any number. */
    readonly rate: Rate | null;
    /** CEL over `args`: what a call costs, in units of the operator's choice; null: nothing. */
    readonly cost: string | null;
  };
  readonly businessKey: BusinessKey | null;
  /** What makes a call look like an earlier one of the tenant; null: nobody looks. */
  readonly similar: Similar | null;
  /** Arguments that have to come from an earlier result of the run. */
  readonly identifiers: readonly Identifier[];
  /** What becomes of a call in a run that has read text from outside. */
  readonly whenTainted: 'allow' | 'require_approval' | 'deny';
  /** Who has to agree, and what they see. Always there; `required` false: only where a rule, taint or a look-alike asks. */
  readonly approval: ApprovalRules;
  readonly terms: Terms;
  readonly upstream: Upstream;
  /** Where sandbox calls go, by exactly the same code; null: there is no sandbox, and such calls are refused. */
  readonly sandbox: Upstream | null;
  /** What is taken out of its results before anybody reads them. Left out: what the default patterns find. */
  readonly redaction?: Redaction;
  /** So that answers that repeat it can be recognised; for nobody to read. Left out: nothing was filled in. */
  readonly filledIn?: readonly FilledIn[];
  /** The part whose meaning callers rely on; a change needs a new version. */
  readonly contract: JsonObject;
  /** sha256 of the canonical contract, hex. */
  readonly contractDigest: string;
  /** sha256, hex, of all that the tool file says, in canonical JSON, as written: without values of the environment. */
  readonly fileDigest: string;
  /** File it came from, as given on the command line or found in the tools directory. */
  readonly file: string;
}
