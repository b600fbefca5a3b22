export * from './adapter.js';
export { HttpAdapter, type HttpAdapterOptions } from './http-adapter.js';
export { type StatusRule, statusTable } from './status-table.js';
