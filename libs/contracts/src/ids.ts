/** Shapes of ids. All of them are safe as tokens of a NATS subject and as path segments of a URL. */
export const tenantPattern = /^[a-z0-9][a-z0-9_-]{0,62}$/;
export const runIdPattern = /^run_[0-9A-HJKMNP-TV-Z]{26}$/;
export const intentIdPattern = /^[0-9A-HJKMNP-TV-Z]{26}$/;
export const toolNamePattern = /^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+$/;
export const longestToolName = 64;
/** Step ids are chosen by the agent's runtime: printable ASCII without spaces, 128 at most. */
export const stepIdPattern = /^[\x21-\x7e]{1,128}$/;
