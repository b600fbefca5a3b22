import type { EventType, Intent, IntentEvent } from '@intendant/intent';
import { expect, test } from 'vitest';
import { intentIn } from './intents.spec-helper.js';
import { type IntentCloudEvent, progressEvent, publicEvent } from './public-events.js';

const event = (type: EventType) => ({ type }) as IntentEvent;
const at = Date.UTC(2026, 0, 2, 3, 4, 5, 6);
const published: readonly EventType[] = [
  'denied',
  'outcome_unknown',
  'dead_lettered',
  'committed',
  'failed',
  'cancelled',
  'expired',
  'corrected',
];
const kept: readonly EventType[] = [
  'recorded',
  'authorized',
  'attempt_started',
  'attempt_not_executed',
  'accepted',
  'lookup_absent',
  'lookup_inconclusive',
  'replay_requested',
  'resolved',
];

function read(type: EventType, intent: Intent) {
  const message = publicEvent(event(type), intent, at);
  return { message, cloudEvent: JSON.parse(message?.payload ?? 'null') as IntentCloudEvent };
}

test.each(kept)('%s stays in the log', (type) => {
  expect(publicEvent(event(type), intentIn('unknown'), at)).toBeNull();
});

test.each(published)('%s is published as a CloudEvent with every required attribute', (type) => {
  const { message, cloudEvent } = read(type, intentIn('committed'));
  expect(cloudEvent).toMatchObject({
    specversion: '1.0',
    id: '01J9Z3M5V6W7X8Y9Z0A1B2C3D4-4',
    source: 'intendant',
    type: `intendant.intent.${type}`,
    subject: '01J9Z3M5V6W7X8Y9Z0A1B2C3D4',
    time: '2026-01-02T03:04:05.006Z',
    datacontenttype: 'application/json',
    tenant: 'acme',
    data: { status: 'committed', version: 4, data: { refund_id: 're_9' } },
  });
  expect(message?.msgId).toBe(cloudEvent.id);
});

test('attribute names are what CloudEvents allows: lower-case letters and digits', () => {
  const { cloudEvent } = read('committed', intentIn('committed', { proposal: { traceparent: '00-a-b-01' } }));
  expect(cloudEvent.traceparent).toBe('00-a-b-01');
  for (const name of Object.keys(cloudEvent)) expect(name).toMatch(/^[a-z0-9]{1,20}$/);
});

test('without a trace there is no attribute for it', () => {
  expect(read('committed', intentIn('committed')).cloudEvent).not.toHaveProperty('traceparent');
});

test('an event of a sandbox call is marked, outside and inside; a real one says nothing about it', () => {
  const { cloudEvent } = read('committed', intentIn('committed', { proposal: { sandbox: true } }));
  expect(cloudEvent).toMatchObject({ sandbox: true, data: { sandbox: true } });
  const real = read('committed', intentIn('committed')).cloudEvent;
  expect(real).not.toHaveProperty('sandbox');
  expect(real.data).not.toHaveProperty('sandbox');
});

test('the subject leads from the tenant over the run to the intent, for subscribers to cut where they like', () => {
  const { message } = read('outcome_unknown', intentIn('unknown'));
  expect(message?.subject).toBe(
    'intendant.events.acme.run_01J9Z3M5V6W7X8Y9Z0A1B2C3D4.01J9Z3M5V6W7X8Y9Z0A1B2C3D4.outcome_unknown',
  );
  expect(message?.subject).not.toMatch(/[\s*>]/);
});

test('two events of one intent have different ids', () => {
  const ids = [3, 4].map((version) => read('corrected', intentIn('committed', { version })).message?.msgId);
  expect(new Set(ids).size).toBe(2);
});

test('however large the data, the message fits the bus', () => {
  const { message, cloudEvent } = read('committed', intentIn('committed', {}, { data: '"'.repeat(800_000) }));
  expect(Buffer.byteLength(message?.payload ?? '')).toBeLessThan(20_000);
  expect(cloudEvent.data).toMatchObject({ status: 'committed', data: null, summary: expect.stringContaining('bytes') });
});

test('"still working" is a CloudEvent, too, once per attempt, and says what to do and what not', () => {
  const intent = intentIn('dispatching');
  if (intent.state !== 'dispatching') throw new Error(intent.state);
  const message = progressEvent(intent, 5_049, at);
  expect(message.subject).toBe(
    'intendant.events.acme.run_01J9Z3M5V6W7X8Y9Z0A1B2C3D4.01J9Z3M5V6W7X8Y9Z0A1B2C3D4.progress',
  );
  expect(message.msgId).toBe('01J9Z3M5V6W7X8Y9Z0A1B2C3D4-progress-1');
  expect(JSON.parse(message.payload)).toMatchObject({
    id: message.msgId,
    type: 'intendant.intent.progress',
    time: '2026-01-02T03:04:05.006Z',
    data: {
      intentId: '01J9Z3M5V6W7X8Y9Z0A1B2C3D4',
      status: 'dispatching',
      version: 4,
      attempt: 1,
      elapsedMs: 5_049,
      message:
        'payments.refund.create has been working for 5 s and has not answered yet. Do not call it again; read intent 01J9Z3M5V6W7X8Y9Z0A1B2C3D4 or wait for its outcome.',
    },
  });
});
