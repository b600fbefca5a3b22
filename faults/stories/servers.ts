import type { Story } from './story.js';

/** Incidents with PostgreSQL, the outbox and JetStream. */
export const servers: readonly Story[] = [
  {
    id: 'S49',
    what: 'a slow transaction took its place in the outbox first',
    tests: [
      [
        'stories-outbox',
        'a slow transaction that took its place in the outbox first is published when it commits (S49)',
      ],
    ],
  },
  {
    id: 'S50',
    what: 'an unrelated session is idle in a transaction',
    tests: [
      [
        'stories-relays',
        'somebody idle in a transaction holds up what he has locked, which an alarm tells, and nothing else (S50)',
      ],
    ],
  },
  {
    id: 'S51',
    what: 'a dump is restored into a fresh cluster',
    tests: [['stories-databases', 'what is restored into a fresh server goes on there, and so does what is new (S51)']],
  },
  {
    id: 'S52',
    what: 'a row is committed just after the relay looked',
    tests: [
      [
        'stories-outbox',
        'a message that is committed right after the relay looked, and that its own service never publishes, is published (S52)',
      ],
    ],
  },
  {
    id: 'S53',
    what: 'a relay dies between acknowledgement and mark, again and again',
    tests: [
      [
        'stories-outbox',
        'a relay that dies again and again between the acknowledgement and the delete publishes nothing twice (S53)',
      ],
    ],
  },
  {
    id: 'S54',
    what: 'a lock is lost silently, or stranded',
    tests: [
      [
        'stories-relays',
        'a relay that loses its claim without noticing publishes nothing twice, and holds up nobody meanwhile (S54)',
      ],
    ],
  },
  {
    id: 'S55',
    what: 'a socket is cut after COMMIT',
    tests: [
      ['stories-outbox', 'a connection that is cut after the COMMIT of the %s leaves one intent and one stream (S55)'],
      [
        'stories-outbox',
        'an agent that retries because the answer to its submit was cut off gets the one intent (S55)',
      ],
    ],
  },
  {
    id: 'S56',
    what: 'backends are terminated inside the claim',
    tests: [
      [
        'stories-outbox',
        'a backend that is terminated inside the claim lets go of its rows and of its pool slot (S56)',
      ],
      [
        'stories-outbox',
        'services whose database connections are all terminated again and again finish every intent once (S56)',
      ],
    ],
  },
  {
    id: 'S57',
    what: 'the first event is refused and the second is not',
    tests: [
      [
        'stories-outbox',
        'a subscriber ends up with the same when the first event of an intent is refused and the second is not (S57)',
      ],
    ],
  },
  {
    id: 'S58',
    what: 'a message reaches its maximum of deliveries',
    tests: [
      [
        'stories-bus',
        'work whose doorbells are never delivered again, or were never stored, is announced again (S58, S62)',
      ],
    ],
  },
  {
    id: 'S59',
    what: 'NATS is restarted again and again under load',
    tests: [
      [
        'stories-nats',
        'a server that is restarted again and again under load keeps nobody from being dispatched, once each (S59)',
      ],
    ],
  },
  {
    id: 'S60',
    what: 'the store of NATS is lost',
    tests: [
      [
        'stories-bus',
        'a server that comes back with an empty store gets its streams again and every intent is announced (S60)',
      ],
    ],
  },
  {
    id: 'S61',
    what: 'NATS comes back with an old copy of its store',
    tests: [
      [
        'stories-nats',
        'a server that comes back with an old copy of its store: what is done stays done, what waits is done once (S61)',
      ],
    ],
  },
  {
    id: 'S62',
    what: 'a publish is acknowledged and nothing is stored',
    tests: [
      [
        'stories-bus',
        'work whose doorbells are never delivered again, or were never stored, is announced again (S58, S62)',
      ],
    ],
  },
  {
    id: 'S63',
    what: 'a consumer is deleted under the services',
    tests: [['stories-bus', 'consumers that are deleted under the services are made again, and work goes on (S63)']],
  },
  {
    id: 'S64',
    what: 'NATS is away for longer than a client tries by itself',
    tests: [['stories-bus', 'services outlast an outage of NATS and go on by themselves when it is back (S64)']],
  },
];
