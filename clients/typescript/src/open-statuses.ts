import type { Status } from './wire.js';

/** An intent that stands so has no outcome yet. */
export const openStatuses: ReadonlySet<Status> = new Set([
  'pending',
  'awaiting_approval',
  'authorized',
  'dispatching',
  'accepted',
  'unknown',
]);
