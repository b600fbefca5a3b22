import { ConfigError } from './environment.js';

/**
 * Named places where a process may be made to die or stall, so that tests can break it exactly there.
 * Nothing happens unless `INTENDANT_FAULT` names the point: `name:nth:action`, with action `kill` (SIGKILL to the
 * own process), `pause` (SIGSTOP; somebody else continues it) or `throw`. `nth` counts visits from 1.
 */
export const faultPoints = [
  'door.before_append',
  'door.after_append',
  'outbox.before_publish',
  'outbox.after_publish',
  'bus.before_ack',
  'gateway.before_reply',
  'policy.before_reply',
  'policy.before_ack',
  'relay.after_claim',
  'relay.after_publish',
  'dispatcher.after_ring',
  'dispatcher.after_verify',
  'dispatcher.after_preview',
  'dispatcher.before_ack',
  'dispatcher.after_start',
  'dispatcher.before_send',
  'dispatcher.after_send',
  'dispatcher.after_answer',
  'dispatcher.after_verdict',
  'reconciler.after_claim',
  'reconciler.after_lookup',
  'reconciler.after_decision',
  'shutdown.before_quiesce',
  'shutdown.before_close',
] as const;
export type FaultPoint = (typeof faultPoints)[number];

export type FaultAction = 'kill' | 'pause' | 'throw';
export interface Fault {
  readonly point: FaultPoint;
  readonly nth: number;
  readonly action: FaultAction;
}

let armed: Fault | null = null;
let visits = 0;

/** Parses `name:nth:action`; throws with the legal values when it is something else. */
export function parseFault(text: string): Fault {
  const [point, nth, action, ...rest] = text.split(':');
  const known = faultPoints.find((p) => p === point);
  const count = Number(nth);
  const legal = known !== undefined && Number.isInteger(count) && count >= 1 && rest.length === 0;
  if (!legal || (action !== 'kill' && action !== 'pause' && action !== 'throw')) {
    throw new ConfigError(
      `INTENDANT_FAULT must be <point>:<nth>:<kill|pause|throw> with a point of ${faultPoints.join(', ')}; got "${text}"`,
    );
  }
  return { point: known, nth: count, action };
}

export function armFault(fault: Fault | null): void {
  armed = fault;
  visits = 0;
}

export function faultPoint(point: FaultPoint): void {
  if (armed === null || armed.point !== point) return;
  visits += 1;
  if (visits !== armed.nth) return;
  if (armed.action === 'throw') {
    const error = new Error(`fault at ${point}`);
    // Whoever armed it has to know that it struck, also where an error is nothing to speak of.
    process.stderr.write(`${error.message}\n`);
    throw error;
  }
  process.kill(process.pid, armed.action === 'kill' ? 'SIGKILL' : 'SIGSTOP');
  // The signal is delivered when the kernel gets to it; nothing of ours may run in between.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
}
