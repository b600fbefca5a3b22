import type { Story } from './story.js';

/** Incidents of agents and of the frameworks they run in. */
export const agents: readonly Story[] = [
  {
    id: 'S01',
    what: 'a task retry submits an intent that succeeded again',
    tests: [['stories-agents', 'a retried submit is answered from the first and takes effect once (S01)']],
  },
  {
    id: 'S02',
    what: 'a whole run is replayed after its tools were done',
    tests: [
      [
        'stories-confirmations',
        'that is replayed whole, since the model failed after its tools were done, does nothing again (S02)',
      ],
    ],
  },
  {
    id: 'S03',
    what: 'the same step twice is one effect, two steps with equal arguments are two',
    tests: [
      ['stories-agents', 'one step called twice is one effect, two steps with the same arguments are two (S03, S25)'],
      ['stories-agents', 'the same step and arguments in two runs are two effects (S03)'],
    ],
    waitsFor: 'business keys: two of them with the same arguments are two effects',
  },
  {
    id: 'S04',
    what: 'a model supplies a fresh upstream key on its retry',
    tests: [
      ['stories-answers', 'that a model makes up, and makes up anew for its retry, never reaches the upstream (S04)'],
    ],
  },
  {
    id: 'S05',
    what: 'an approve list contains one id twice, or in approve and reject',
    tests: [
      ['stories-approvals', 'that names one intent twice approves it once (S05)'],
      ['stories-approvals', 'that approves and refuses one intent is an error, and nothing of it is done (S05)'],
      ['stories-approvals', 'refuses one without a word about its siblings (S05)'],
    ],
  },
  {
    id: 'S06',
    what: 'two approvals race on two replicas',
    tests: [
      ['stories-approvals', 'and agree on two gateways have it done once, and read the same (S06)'],
      ['stories-approvals', 'and say yes and no get one outcome, which both of them are told (S06)'],
    ],
  },
  {
    id: 'S07',
    what: 'a resume replays everything before the interrupt',
    tests: [
      ['stories-repeats', 'that is interrupted and resumed from its start does only what is new (S07)'],
      ['stories-approvals', 'that is resumed from its start after people have agreed does nothing again (S07)'],
    ],
  },
  {
    id: 'S08',
    what: 'an upstream is slower than the step limit, and dispatchers die over it',
    tests: [
      [
        'stories-restarts',
        'an upstream slower than the step, whose word a dispatcher loses three times, acts once (S08)',
      ],
    ],
  },
  {
    id: 'S09',
    what: 'a dispatcher dies after the answer and before the commit, three times',
    tests: [
      ['stories-agents', 'a dispatcher killed three times between the answer and its record leaves one effect (S09)'],
    ],
  },
  {
    id: 'S10',
    what: 'what was told as failed while the upstream was down',
    tests: [
      ['stories-outages', 'what was told as failed while the upstream was down is not sent when it is back (S10)'],
    ],
  },
  {
    id: 'S11',
    what: 'an agent resubmits while recovery drains',
    tests: [
      ['stories-outages', 'a call that is made again while recovery drains what waited takes effect once in all (S11)'],
    ],
  },
  {
    id: 'S12',
    what: 'the system is down past the deadline of what waits',
    tests: [
      [
        'stories-outages',
        'what is still open when its run ends, while everything is down, expires; each call is accounted for (S12)',
      ],
    ],
  },
  {
    id: 'S13',
    what: 'six restarts with an upstream that is not ready',
    tests: [
      ['stories-outages', 'restarts while the upstream is not there count no wire attempt and park nothing (S13)'],
    ],
  },
  {
    id: 'S14',
    what: 'a local adapter is missing at boot',
    tests: [
      [
        'stories-outages',
        'a call whose program is not there is parked, not lost, and sent once when it is replayed (S14)',
      ],
      [
        'local-upstreams',
        'an intent whose program is missing is not lost, and runs once when the program is there (S14)',
      ],
    ],
  },
  {
    id: 'S15',
    what: 'a first delivery was never persisted, and the retry says that it is one',
    tests: [
      [
        'stories-repeats',
        'a submit is not recorded, and its retry, which says that it is one, is taken for what it is: the first (S15)',
      ],
    ],
  },
  {
    id: 'S16',
    what: 'a handler is slow and its caller retries',
    tests: [
      [
        'stories-repeats',
        'whose upstream is slow is answered at once, each time it asks again, and the call is made once (S16)',
      ],
    ],
  },
  {
    id: 'S17',
    what: 'an upstream times out after charging',
    tests: [
      [
        'stories-repeats',
        'is told "unknown" after a timeout that charged, and its retry is not sent while it is unknown (S17)',
      ],
      ['admission', 'do one business operation once, whichever run they come from (S17)'],
      [
        'admission',
        'that asks for the same operation under a new step while its outcome is unknown is told to wait, and then what happened (S17)',
      ],
    ],
  },
  {
    id: 'S18',
    what: 'a second attempt is answered "duplicate"',
    tests: [
      ['stories-answers', 'that is told "duplicate" ends as executed, with the receipt of the first (S18)'],
      ['stories-answers', 'that is refused says nothing good about the first: it ends as executed all the same (S18)'],
    ],
  },
  {
    id: 'S19',
    what: 'a confirmation comes long after the timeout',
    tests: [
      ['stories-confirmations', 'is waited for, and nothing is sent again meanwhile (S19)'],
      ['stories-confirmations', 'of what was accepted is polled for, and nothing is sent again meanwhile (S19)'],
    ],
  },
  {
    id: 'S20',
    what: 'a reset after bytes were sent is not "not sent"',
    tests: [
      ['stories-upstream', 'by ${then} is found by the lookup and not sent again${story}'],
      [
        'stories-upstream',
        'is no success and goes to a person where the upstream can neither be asked nor repeated (S20, S36, S37)',
      ],
    ],
  },
];
