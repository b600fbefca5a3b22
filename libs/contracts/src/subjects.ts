import type { Ring } from './ring.js';

/** Names on the bus. Tokens come from ids that were checked when they were made; nothing a model wrote goes in here. */
export const streams = {
  intents: 'INTENDANT_INTENTS',
  work: 'INTENDANT_WORK',
  events: 'INTENDANT_EVENTS',
} as const;

export const subjects = {
  /** JetStream: submissions without an answer. */
  intents: (tenant: string) => `intendant.intents.${tenant}`,
  anyIntents: 'intendant.intents.*',
  /** JetStream: doorbells, each naming up to {@link doorbellSize} intents that wait for a dispatcher. */
  dispatch: 'intendant.work.dispatch',
  /** JetStream: public events. */
  event: (tenant: string, runId: string, intentId: string, event: string) =>
    `intendant.events.${tenant}.${runId}.${intentId}.${event}`,
  anyEvent: 'intendant.events.>',
  /** Core NATS, may be lost: intents that wait for a dispatcher. */
  hintDispatch: 'intendant.hint.dispatch',
  /** Core NATS, may be lost: intents whose outcome changed; waiting callers read them again. */
  hintChanged: 'intendant.hint.changed',
  /** Core NATS, may be lost: intents whose open attempt is to be aborted, as a JSON list of ids. */
  hintCancel: 'intendant.hint.cancel',
  /** Core NATS, may be lost: an answer for whoever clicked in Slack. */
  hintSlackAnswer: 'intendant.hint.slack_answer',
  rpcSubmit: 'intendant.rpc.submit',
  rpcReplayMessage: 'intendant.rpc.replay_message',
  rpcReconcile: 'intendant.rpc.reconcile',
  rpcTools: 'intendant.rpc.tools',
  rpcPause: 'intendant.rpc.pause',
  rpcGiveGrant: 'intendant.rpc.give_grant',
  rpcOpenRun: 'intendant.rpc.open_run',
} as const;

export const doorbellSize = 100;

/** What a transaction of the door changed; services hint at it on the bus. */
export interface Commit {
  /** Intents that wait for a dispatcher now. */
  readonly dispatch: Ring['intents'];
  /** Intents that have an outcome now, and whose callers wait in another process if anywhere. */
  readonly changed: readonly string[];
  /** Intents on the wire that somebody cancelled; whoever sends them aborts the attempt. */
  readonly cancel: readonly string[];
}
