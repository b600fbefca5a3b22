/** What a call carries to be let in; its values appear nowhere else. */
export interface Credential {
  /** The header that carries it over HTTP. */
  readonly header: { readonly name: string; readonly value: string };
  /** The bare secret, for processes and modules. */
  readonly secret: string;
  /** What earlier calls of the same run carried; an upstream may repeat that too. */
  readonly former?: readonly string[];
  /** To be told when the upstream answers 401: the next call gets another token. Only where there can be another. */
  readonly refused?: () => void;
}

/** There is no credential to call with; nothing was sent. The message holds no secret. */
export class CredentialUnavailable extends Error {
  override readonly name = 'CredentialUnavailable';
}
