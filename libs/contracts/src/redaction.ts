/** Kinds of text that results lose wherever they are. */
export const redactionPatterns = ['card', 'iban', 'token'] as const;
export type RedactionPattern = (typeof redactionPatterns)[number];

/** IBANs are what payment tools are about; a tool that should not show them says so. */
export const defaultPatterns: readonly RedactionPattern[] = ['card', 'token'];

/** What nobody reads of a tool's results: neither the log, nor events, nor the model. */
export interface Redaction {
  /** JSON Pointers into the data; `*` for each item of a list. */
  readonly pointers: readonly string[];
  readonly patterns: readonly RedactionPattern[];
}

/** What stands in the place of what was taken out of a result. */
export const takenOut = '[redacted]';
