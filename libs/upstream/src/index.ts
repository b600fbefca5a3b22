export * from './adapter.js';
export { type Evidence, evidenceOf } from './breaker-evidence.js';
export { type StatusRule, statusTable } from './status-table.js';
export { Upstreams, type UpstreamsOptions } from './upstreams.js';
