export * from './adapter.js';
export { type Evidence, evidenceOf } from './breaker-evidence.js';
export { type Misfit, misfits, openUpstreams, readUpstreamConfig, type UpstreamConfig } from './config.js';
export { parseCredentials } from './credential-rules.js';
export { Egress, EgressRefused } from './egress.js';
export { type EgressRules, readEgressRules } from './egress-rules.js';
export { stateChanged } from './state-token.js';
export { type StatusRule, statusTable } from './status-table.js';
export { Upstreams, type UpstreamsOptions } from './upstreams.js';
