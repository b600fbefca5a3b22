/** What a tool file says about asking the upstream, before anybody agrees, what a call would change. */
export interface PreviewDefinition {
  readonly request: PreviewRequest;
  /** Who is asked for a real call: the tool's own upstream, or its sandbox. A sandbox call asks the sandbox always. */
  readonly use: 'real' | 'sandbox';
  /** JSONata over the answer: what is there now; null: nothing is shown. */
  readonly before: string | null;
  /** JSONata over the answer, `$args` bound to the arguments: what will be there. */
  readonly after: string;
  /** What ties the call to what was shown; null: nothing does. */
  readonly token: TokenDefinition | null;
}

/** How an upstream of the same kind is asked. Whatever is no GET and goes to the real upstream was declared to change nothing. */
export type PreviewRequest =
  | {
      readonly kind: 'http';
      readonly method: 'GET' | 'POST' | 'PUT';
      /** As of a lookup. */
      readonly path: string;
      readonly headers: Readonly<Record<string, string>>;
      /** JSONata over `{ args, key, intentId }`, `$args` bound to the arguments. Null: no body. */
      readonly body: string | null;
    }
  | {
      readonly kind: 'mcp';
      readonly tool: string;
      /** As the body of an HTTP request. */
      readonly arguments: string;
    }
  | { readonly kind: 'process'; readonly argv: readonly [program: string, ...args: string[]] }
  /** The module's own function `preview` answers. */
  | { readonly kind: 'module' };

export interface TokenDefinition {
  /** JSONata over the answer: a {@link StateToken}. */
  readonly read: string;
  readonly apply: TokenUse;
  /** HTTP statuses (400 to 499) by which the upstream says that the token of a call is not the current one. */
  readonly changedStatuses: readonly number[];
}

/** Changes whenever what is there changes, such as a version or an ETag; a number is whole and exact. */
export type StateToken = string | number;

/** How the token makes sure that what was approved is still there. */
export type TokenUse =
  /** The call carries it as `If-Match`, and the upstream compares. */
  | { readonly kind: 'if_match' }
  /** The same with a header of this upstream. */
  | { readonly kind: 'header'; readonly name: string }
  /** The same with a field of the arguments, which no caller can set. */
  | { readonly kind: 'field'; readonly name: string }
  /** The preview is asked again just before the call; what changes between the two is not noticed. */
  | { readonly kind: 'reread' };

/** What keeps a preview true until the call is made: the upstream refuses, it is read once more just before, or nothing. */
export function keptBy({ token }: PreviewDefinition): 'by_upstream' | 'read_again' | 'not_kept' {
  if (token === null) return 'not_kept';
  return token.apply.kind === 'reread' ? 'read_again' : 'by_upstream';
}
