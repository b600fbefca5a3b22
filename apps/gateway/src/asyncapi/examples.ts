import { errorHeader } from '@intendant/bus';
import { errorObject, eventHeaders, type IntentResult, type PublicEventName, streams } from '@intendant/contracts';
import { exampleResult } from '../openapi-schemas.js';
import { statesAfter } from './events.js';

const { intentId, runId, tool, stepId } = exampleResult;
const payload = { tool, args: { order_id: 'ord_1', amount_cents: 2499 }, stepId };
const Authorization = 'Bearer eyJhbGciOiJIUzI1NiJ9…';
const unknown = errorObject(
  'outcome_unknown',
  `The outcome of ${tool} is not known (headers_timeout). It may or may not have happened; this is being checked. Do not call it again; read intent ${intentId} or wait for its outcome.`,
  { cause: 'headers_timeout' },
);
const open = { ...exampleResult, data: null };

/** What goes beside each message in the document. */
export const examples = {
  submission: { headers: { Authorization }, payload },
  stored: { payload: { stream: streams.intents, seq: 17 } },
  notStored: { payload: { error: { code: 400, err_code: 10_077, description: 'maximum bytes exceeded' } } },
  request: { headers: { Authorization, 'Intendant-Wait': '20s' }, payload },
  result: { payload: exampleResult },
  unknown: { payload: { ...open, status: 'unknown', outcome: 'unknown', error: unknown } },
  refusal: {
    headers: { [errorHeader]: 'invalid_message' },
    payload: {
      error: errorObject('invalid_message', 'The message is not a JSON object. Nothing was recorded.', {}),
    },
  },
  toolsRequest: { headers: { Authorization }, payload: { namespace: 'payments' } },
  tools: {
    payload: {
      tools: [
        {
          name: tool,
          description: 'Refunds a captured payment to its card.',
          version: 1,
          effect: 'destructive',
          reversible: false,
          inputSchema: { type: 'object', required: ['order_id'], properties: { order_id: { type: 'string' } } },
          outputSchema: { type: 'object', required: ['refund_id'], properties: { refund_id: { type: 'string' } } },
        },
      ],
    },
  },
  openRun: {
    headers: { Authorization: 'Bearer <service key>' },
    payload: { user: 'ada', permissions: ['payments:*'], profile: 'interactive', ttl: '30m', budgets: { calls: 5 } },
  },
  openedRun: {
    payload: {
      runId,
      token: 'eyJhbGciOiJIUzI1NiJ9…',
      expiresAt: '2026-01-02T03:34:05.000Z',
      budgets: { calls: 5, mutating: null, destructive: 1, cost: null, wallClockSeconds: 120 },
    },
  },
  event,
} as const;

function event(name: PublicEventName) {
  const id = name === 'progress' ? `${intentId}-progress-1` : `${intentId}-4`;
  return {
    headers: { ...eventHeaders, 'Nats-Msg-Id': id },
    payload: {
      specversion: '1.0',
      id,
      source: 'intendant',
      type: `intendant.intent.${name}`,
      subject: intentId,
      time: '2026-01-02T03:04:05.006Z',
      datacontenttype: 'application/json',
      tenant: 'acme',
      data: { version: 4, ...after(name), ...(name === 'progress' && progress) },
    },
  };
}

const progress = {
  attempt: 1,
  elapsedMs: 5_049,
  message: `${tool} has been working for 5 s and has not answered yet. Do not call it again; read intent ${intentId} or wait for its outcome.`,
};

/** How the intent stands after the event, as far as an example has to say it. */
function after(name: PublicEventName): Pick<IntentResult, 'status' | 'outcome' | 'error'> & object {
  const [status = 'committed'] = statesAfter(name);
  switch (name) {
    case 'committed':
    case 'corrected':
      return { ...exampleResult, status: 'committed', outcome: 'executed' };
    case 'outcome_unknown':
      return { ...open, status, outcome: 'unknown', error: unknown };
    case 'dead_lettered':
      return {
        ...open,
        status,
        outcome: 'unknown',
        error: errorObject('dead_lettered', 'Only a person can find out.'),
      };
    case 'denied':
      return { ...open, status, outcome: 'not_executed', error: errorObject('rule_denied', 'Refunds end at 100.') };
    case 'failed':
      return { ...open, status, outcome: 'not_executed', error: errorObject('upstream_rejected', 'It refused.') };
    case 'cancelled':
      return { ...open, status, outcome: 'not_executed', error: errorObject('cancelled', 'Nothing happened.') };
    case 'expired':
      return { ...open, status, outcome: 'not_executed', error: errorObject('expired', 'Nothing happened.') };
    case 'approval_requested':
    case 'progress':
      return { ...open, status, outcome: 'undecided', error: null };
  }
}
