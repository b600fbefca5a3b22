/** What the arguments of some tools have to satisfy; the opener of a run may demand it beside what its key demands. */
export interface Restriction {
  /** Names of tools, or namespaces as `payments.*`. */
  readonly tools: readonly string[];
  /** CEL over `args`, `session` and `tool`: true where the call is within bounds. */
  readonly allow: string;
  /** For the agent: what is within bounds. */
  readonly message: string;
}
