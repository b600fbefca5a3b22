export { type RunOptions, runService } from './run-service.js';
