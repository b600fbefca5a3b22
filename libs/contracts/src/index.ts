export * from './errors.js';
export * from './ids.js';
export * from './public-events.js';
export * from './result.js';
export * from './ring.js';
export * from './session.js';
export * from './subjects.js';
export * from './tool.js';
