export { alarm } from './alarm.js';
export { type RunOptions, runService } from './run-service.js';
