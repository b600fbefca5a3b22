import { DataSource } from 'typeorm';
import { EventLog1764460800000 } from './1764460800000-event-log.js';
import { OutboxByMessage1795996800000 } from './1795996800000-outbox-by-message.js';
import { LateEvidence1796083200000 } from './1796083200000-late-evidence.js';
import { SandboxIntents1796169600000 } from './1796169600000-sandbox-intents.js';
import { Pauses1796256000000 } from './1796256000000-pauses.js';
import { Admission1796342400000 } from './1796342400000-admission.js';
import { Approvals1796428800000 } from './1796428800000-approvals.js';
import { DeadMessageSteps1796515200000 } from './1796515200000-dead-message-steps.js';

/** Every migration, in order. Frozen once released: a change is a new one. */
export const migrations = [
  EventLog1764460800000,
  OutboxByMessage1795996800000,
  LateEvidence1796083200000,
  SandboxIntents1796169600000,
  Pauses1796256000000,
  Admission1796342400000,
  Approvals1796428800000,
  DeadMessageSteps1796515200000,
];

export function migrationDataSource(url: string): DataSource {
  return new DataSource({
    type: 'postgres',
    url,
    migrations,
    migrationsTransactionMode: 'all',
    connectTimeoutMS: 5_000,
  });
}
