import type { Story } from './story.js';

/** Incidents with payments, keys and e-mails. */
export const payments: readonly Story[] = [
  {
    id: 'S21',
    what: 'PostgreSQL turns read-only after a charge',
    tests: [
      [
        'stories-databases',
        'while PostgreSQL is read-only nothing is sent, neither what waits nor again what was charged (S21)',
      ],
    ],
  },
  {
    id: 'S22',
    what: 'marking as delivered times out twenty times',
    tests: [
      [
        'stories-databases',
        'a success whose record times out twenty times is recorded in the end, and nothing is sent again (S22)',
      ],
    ],
  },
  {
    id: 'S23',
    what: 'a user retries a slow call that succeeds',
    tests: [
      ['stories-repeats', 'that repeats a slow call which succeeds sends no other key, with a step and without (S23)'],
    ],
  },
  {
    id: 'S24',
    what: 'a resubmit with another order and spelling of fields',
    tests: [
      [
        'stories-agents',
        'fields in another order and numbers in another spelling are the same call, with a step and without (S24)',
      ],
      ['stories-agents', 'without a step, other arguments are another call (S24)'],
    ],
  },
  {
    id: 'S25',
    what: 'different intents have different keys; a key that the upstream knows from another body',
    tests: [
      ['stories-agents', 'one step called twice is one effect, two steps with the same arguments are two (S03, S25)'],
      ['stories-resend', 'may know the key from another body: the intent is parked, under no other key (S25)'],
    ],
  },
  {
    id: 'S26',
    what: '409 in progress five times, then 200',
    tests: [
      ['stories-resend', 'may answer "in progress" five times before it tells the outcome of the one effect (S26)'],
    ],
  },
  {
    id: 'S27',
    what: 'the same operation with another amount',
    tests: [
      ['stories-agents', 'the same step with another amount is a conflict, and the upstream is not called (S27, T3)'],
    ],
    waitsFor: 'business keys: the same one with another amount, across runs',
  },
  {
    id: 'S28',
    what: 'an upstream replays a 500 for the key',
    tests: [['stories-answers', 'does not hide the effect from the lookup (S28)']],
  },
  {
    id: 'S29',
    what: 'one item of a batch of ten goes wrong',
    tests: [
      [
        'stories-repeats',
        'of ten calls whose sixth goes wrong is run again as a whole: each other call is made once (S29)',
      ],
    ],
  },
  {
    id: 'S30',
    what: 'a double submit within milliseconds',
    tests: [
      [
        'stories-agents',
        'submits of one step in the same moment, through two replicas, are one intent and one effect (S30)',
      ],
    ],
  },
  {
    id: 'S31',
    what: 'two attempts share their key and differ in their attempt id',
    tests: [
      [
        'stories-resend',
        'and no answer is sent again once it is proven absent, with the same key under another attempt id (S31)',
      ],
      ['stories-resend', 'and no answer is sent again under the key the upstream remembers (S31)'],
    ],
  },
];
