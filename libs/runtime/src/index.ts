export * from './clock.js';
export { Coalescer } from './coalescer.js';
export * from './environment.js';
export * from './fault-point.js';
export { HealthModule, type ReadinessCheck } from './health.js';
export * from './logger.js';
export { Loop, type LoopOptions } from './loop.js';
export { newId } from './new-id.js';
export { main, type ServiceOptions, startService } from './service.js';
