import type { Story } from './story.js';

/** Incidents in the HTTP layer, and among workers that recover from each other. */
export const workers: readonly Story[] = [
  {
    id: 'S32',
    what: 'a proxy sends the POST again on 503',
    tests: [
      [
        'stories-answers',
        'a proxy that repeats the request makes no second effect, and the ledger shows what it did (S32)',
      ],
    ],
  },
  {
    id: 'S33',
    what: 'an upstream commits and answers 500',
    tests: [['stories-upstream', 'by ${then} is found by the lookup and not sent again${story}']],
  },
  {
    id: 'S34',
    what: 'an adapter or a proxy that retries by itself',
    tests: [
      [
        'stories-confirmations',
        'shows in the ledger as more wire requests than attempts, and the key keeps the effect single (S34)',
      ],
    ],
  },
  {
    id: 'S35',
    what: 'a reused keep-alive socket is reset after the effect',
    tests: [
      [
        'stories-upstream',
        'a reset on a connection that was used before is an unknown outcome, not one to send again (S35)',
      ],
    ],
  },
  {
    id: 'S36',
    what: 'a redirect to a page that answers 200',
    tests: [
      ['stories-upstream', 'by ${then} is found by the lookup and not sent again${story}'],
      [
        'stories-resend',
        'but a page to be redirected to is not taken for a success; the page is never asked for (S36)',
      ],
      [
        'stories-upstream',
        'is no success and goes to a person where the upstream can neither be asked nor repeated (S20, S36, S37)',
      ],
    ],
  },
  {
    id: 'S37',
    what: 'a body that is cut with its connection',
    tests: [
      ['stories-upstream', 'by ${then} is found by the lookup and not sent again${story}'],
      [
        'stories-upstream',
        'is no success and goes to a person where the upstream can neither be asked nor repeated (S20, S36, S37)',
      ],
    ],
  },
  {
    id: 'S38',
    what: 'a 202 whose operation fails later',
    tests: [
      [
        'stories-confirmations',
        'that accepts a request and gives it up later makes the call fail, and the agent is told so (S38)',
      ],
    ],
  },
  {
    id: 'S39',
    what: 'a handler outlives its lease while a second replica gets the message',
    tests: [
      [
        'stories-workers',
        'a second replica that gets the message does not send while the first attempt is open, nor after its lease (S39)',
      ],
      ['crashes-standalone', 'and goes on after another one took over from it at ${pause} sends nothing (T1, S39)'],
    ],
  },
  {
    id: 'S40',
    what: 'a slow upstream is not rescued while the attempt is alive',
    tests: [['stories-confirmations', 'that takes nearly the whole call limit is waited for, not rescued (S40)']],
  },
  {
    id: 'S41',
    what: 'an intent that is held back for longer than the redelivery timeout',
    tests: [
      [
        'stories-confirmations',
        'that asks to come back after more than the bell may ring is asked once, and not earlier (S41)',
      ],
    ],
  },
  {
    id: 'S42',
    what: 'a submit in the middle of the recovery sweep',
    tests: [['stories-workers', 'submits in the middle of a recovery sweep take effect once (S42)']],
  },
  {
    id: 'S43',
    what: 'two reconcilers on one unknown intent',
    tests: [
      [
        'stories-workers',
        'a decision that was overtaken by another reconciler changes nothing: one decision, at most one resend (S43)',
      ],
      ['stories-workers', 'two reconcilers settle a dozen unknown outcomes with one decision each (S43)'],
    ],
  },
  {
    id: 'S44',
    what: 'a relay restarts while a dispatcher works',
    tests: [
      [
        'stories-workers',
        'a relay that dies and comes back while a dispatcher works changes nothing for the call (S44)',
      ],
    ],
  },
  {
    id: 'S45',
    what: 'three replicas of every role start at once',
    tests: [
      [
        'stories-workers',
        'three replicas of every role that start at once share the work without doubling any of it (S45)',
      ],
    ],
  },
  {
    id: 'S46',
    what: 'a stall detector fires and the success lands later',
    tests: [
      ['stories-stalls', 'what was thought to have stalled is told as unknown and then as done, never as failed (S46)'],
    ],
  },
  {
    id: 'S47',
    what: 'a dead letter, then a late success',
    tests: [
      ['stories-stalls', 'a dead letter is corrected and ends once, with an alarm (S47)'],
      ['stories-stalls', 'what a person had closed as not executed stays failed, with a correction and an alarm (S47)'],
    ],
  },
  {
    id: 'S48',
    what: 'a duplicate dispatch loses the race and dies',
    tests: [
      [
        'stories-stalls',
        'a second dispatch that loses the race and goes does not fail the attempt that is alive (S48)',
      ],
    ],
  },
];
