/** What a call carries to be let in; its values appear nowhere else. */
export interface Credential {
  /** The header that carries it over HTTP. */
  readonly header: { readonly name: string; readonly value: string };
  /** The bare secret, for processes and modules. */
  readonly secret: string;
}
