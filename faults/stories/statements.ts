import type { Story } from './story.js';

/** What every release must satisfy, beside the stories. */
export const statements: readonly Story[] = [
  {
    id: 'T1',
    what: 'SIGKILL at each boundary never yields two effects',
    tests: [
      ['stories-bus', 'the log, the read model and the ledger agree about all of it (T1)'],
      ['crashes-standalone', 'and goes on after another one took over from it at ${pause} sends nothing (T1, S39)'],
      ['crashes-standalone', 'that is killed at %s leaves calls that take effect once and end as the ledger says (T1)'],
      ['crashes-standalone', 'leaves a log, a read model and a ledger that agree about all of it (T1)'],
    ],
  },
  {
    id: 'T2',
    what: 'an absence inside the settle time never triggers a resend',
    tests: [
      [
        'stories-upstream',
        'that comes late is waited for: an absence inside the settle time never leads to a second request (T2)',
      ],
    ],
  },
  {
    id: 'T3',
    what: 'same key and arguments, same key and others, in flight',
    tests: [
      ['stories-agents', 'the same step with another amount is a conflict, and the upstream is not called (S27, T3)'],
      ['stories-agents', 'a call repeated while it is in flight is answered with the same intent (T3)'],
    ],
  },
  {
    id: 'T4',
    what: 'a bound field changes after approval',
    tests: [
      ['approvals-changes', 'in %s is not sent and asked about anew (T4)'],
      ['approvals-changes', 'in %s serves what it was given for, once (T4)'],
      ['approvals-changes', 'is not sent under another policy, and serves under the one it was given for (T4)'],
      ['approvals-changes', 'may be agreed to anew, and is sent once by that (T4)'],
      ['approvals-changes', '(%s) is not sent (T4)'],
      ['approvals-changes', '(%s) serves when that is taken out (T4)'],
    ],
  },
  {
    id: 'T5',
    what: 'an approval survives the restart of every service',
    tests: [
      ['approvals-restarts', 'outlives every service, between every two steps, and is used once (T5)'],
      [
        'approvals-restarts',
        'that is given while nobody waits and nothing runs but a gateway leads to one dispatch (T5)',
      ],
      ['approvals-restarts', '(%s at %s) leaves one effect, and a log that tells it (T1, T5)'],
    ],
  },
  {
    id: 'T6',
    what: 'expiry is checked at dispatch',
    tests: [
      ['approvals-expiry', 'is not taken any more by the API, which ends it (T6)'],
      ['approvals-expiry', 'is not used for a dispatch, though it was given in time (T6)'],
      ['approvals-expiry', 'is not used after a pause of its tool that lasted longer (T6)'],
      ['approvals-expiry', 'is ended by the sweeper, whether it was given or not and though nothing dispatches (T6)'],
    ],
  },
  {
    id: 'T7',
    what: 'an unauthorised approver, a stale or repeated decision',
    tests: [
      ['approvals-authority', 'with the token of the run (T7)'],
      ['approvals-authority', 'with the key of a service (T7)'],
      ['approvals-authority', 'with a key that nobody knows (T7)'],
      ['approvals-authority', 'without any key (T7)'],
      ['approvals-authority', 'by an operator who is no approver (T7)'],
      ['approvals-authority', 'by a viewer (T7)'],
      ['approvals-authority', 'by an approver of another group (T7)'],
      ['approvals-authority', 'by whoever the run acts for, except a no (T7)'],
      ['approvals-authority', 'about what was asked before something changed (T7)'],
      ['approvals-authority', 'a second time by the same person (T7)'],
      ['approvals-authority', 'after all have agreed and it was done (T7)'],
      ['approvals-authority', 'is told that there is no such intent, and changes nothing (T7)'],
    ],
  },
  {
    id: 'T8',
    what: 'parallel intents at a budget of one',
    tests: [['admission', 'get no more effects than their budget allows, by the ledger of the upstream (T8)']],
  },
  {
    id: 'T9',
    what: 'a cancel in flight ends in what really happened',
    tests: [
      [
        'stories-agents',
        'an intent that is cancelled before its dispatch is never sent, and says so when asked again (T9)',
      ],
      ['stories-agents', 'cancelling what is on the wire aborts it, and the intent ends in what really happened (T9)'],
      ['stories-agents', 'a cancelled call that did not happen is not sent again, and says that it was cancelled (T9)'],
      ['stories-agents', 'cancelling an intent whose outcome is unknown ends in what really happened (T9)'],
      ['gateway', 'what is on the wire is aborted by a cancel, which answers with what really happened (T9)'],
    ],
  },
  {
    id: 'T10',
    what: 'a denied action proposed again with cosmetic changes',
    tests: [
      [
        'approvals-authority',
        'is answered from the refusal when it is asked for in other words, and nobody is asked again (T10)',
      ],
    ],
  },
  {
    id: 'T11',
    what: 'error results are never validated against the success schema',
    tests: [
      [
        'stories-repeats',
        'an error of the upstream is told as the error it is, not as an output that does not fit (T11)',
      ],
    ],
  },
  {
    id: 'T12',
    what: 'a bulk replay of 10,000',
    waitsFor: 'bulk replay',
  },
  {
    id: 'T13',
    what: 'the relay under concurrent commits',
    tests: [
      [
        'stories-outbox',
        'two relays under concurrent commits publish every event that people subscribe to, each once (T13)',
      ],
    ],
  },
  {
    id: 'T14',
    what: 'two limiter replicas enforce one limit',
    tests: [['admission', 'are held to one rate, and told when to come back (T14)']],
  },
  {
    id: 'T15',
    what: 'the tool list depends on the scope only',
    tests: [
      [
        'stories-repeats',
        'the list of tools is the same, byte for byte, for the same permissions, through HTTP, NATS and every replica, and no longer than they reach (T15)',
      ],
    ],
  },
];
