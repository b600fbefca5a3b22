import { announced, type BadHistories } from './bad-history.spec-helper.js';

/** What people have said, and what was done all the same (I3, I11, I15). */
export const badApprovals: BadHistories = {
  'an attempt with one approval too few': {
    rule: 'I15',
    says: /id-agreed of keyed: attempt 1 was started with 2 approvals of 3/,
    change: ({ event }) => requestOf(event('agreed', 'approval_requested'), { quorum: 3 }),
  },
  'an attempt with two approvals of one person': {
    rule: 'I15',
    says: /attempt 1 was started with 1 approval of 2/,
    change: ({ event }) => {
      event('agreed', 'approved', 3).data['by'] = ' ERIN';
    },
  },
  'an attempt with an approval that was taken back': {
    rule: 'I15',
    says: /attempt 1 was started with 1 approval of 2/,
    change: ({ event }) => {
      event('agreed', 'approval_withdrawn').data['by'] = 'erin';
      event('agreed', 'approved', 3).data['by'] = 'frank';
    },
  },
  'an attempt that nobody has agreed to': {
    rule: 'I15',
    says: /id-changed of keyed: attempt 1 was started with 0 approvals of 1/,
    change: ({ event }) => {
      Object.assign(event('changed', 'approved'), { type: 'approval_withdrawn', data: { by: 'erin' } });
    },
  },
  'an attempt after the approval has expired': {
    rule: 'I15',
    says: /attempt 1 was started \d+ ms after its approval had expired/,
    change: ({ event }) => {
      const { recordedAt } = event('agreed', 'attempt_started');
      requestOf(event('agreed', 'approval_requested'), { expiresAt: recordedAt - 5 });
    },
  },
  'an attempt after somebody has refused': {
    rule: 'I15',
    says: /attempt 1 was started after frank had refused it/,
    change: ({ event }) => {
      Object.assign(event('agreed', 'approved', 2), { type: 'refused', data: { by: 'frank', reason: 'no' } });
      event('agreed', 'approval_withdrawn').data['by'] = 'heidi';
      requestOf(event('agreed', 'approval_requested'), { quorum: 1 });
    },
  },
  'an attempt before anybody was asked': {
    rule: 'I15',
    says: /id-changed of keyed: attempt 1 was started before anybody was asked/,
    change: ({ h, event, drop, published, row }) => {
      const moved = h.database.events.filter((e) => e.intentId === 'id-changed');
      const started = event('changed', 'attempt_started');
      const asked = event('changed', 'approval_requested', 2);
      drop(h.database.events, ...moved);
      drop(h.bus.published, published('changed', 'approval_requested'));
      drop(h.bus.published, published('changed', 'approval_requested'));
      const [recorded, , , authorized, , , , committed] = moved;
      const lost = { ...started, type: 'outcome_unknown', data: { cause: 'x' } };
      const again = { ...asked, type: 'authorized', data: { basis: 'same_key' } };
      const log = [recorded, authorized, started, lost, again, asked, committed];
      log.forEach((e, i) => {
        if (e) h.database.events.push({ ...e, version: i + 1 });
      });
      h.bus.published.push(announced('changed', 'outcome_unknown', 4), announced('changed', 'approval_requested', 6));
      Object.assign(published('changed', 'committed'), { version: 7, msgId: 'id-changed-7' });
      row('changed').version = 7;
    },
  },
  'a yes to something else than is asked': {
    rule: 'I15',
    says: /grace agreed to d0, and d1 was asked/i,
    change: ({ event }) => {
      event('agreed', 'approved', 3).data['digest'] = 'd0';
    },
  },
  'a yes that came too late': {
    rule: 'I15',
    says: /grace agreed \d+ ms after the time for it was over/i,
    change: ({ event }) => {
      const { recordedAt } = event('agreed', 'approved', 3);
      requestOf(event('agreed', 'approval_requested'), { expiresAt: recordedAt - 1 });
    },
  },
  'a yes of whoever asked for it': {
    rule: 'I15',
    says: /Ada agreed to what was asked for in that name/,
    change: ({ event }) => {
      event('agreed', 'approved', 3).data['by'] = 'Ada';
    },
  },
  'a refusal that nobody has given': {
    rule: 'I3',
    says: /denied for approval_refused, and nobody has refused it/,
    change: ({ h, event }) => {
      Object.assign(event('turned-down', 'refused'), { type: 'approval_withdrawn', data: { by: 'erin' } });
      for (const entry of h.clients) if (entry.operation === 'refuse') entry.operation = 'get';
    },
  },
  'an approval that expired before its time': {
    rule: 'I3',
    says: /denied for approval_expired, and there were .* left/,
    change: ({ event }) => requestOf(event('lapsed', 'approval_requested'), { expiresAt: 9_000_000_000 }),
  },
  'people who are asked for ever': {
    rule: 'I3',
    says: /still awaiting_approval .* after the time for it was over/,
    change: ({ event }) => requestOf(event('waiting', 'approval_requested'), { expiresAt: 1_000_001 }),
  },
  'an intent that waits for what it has': {
    rule: 'I3',
    says: /still awaiting_approval, and all have agreed/,
    change: ({ event }) => requestOf(event('waiting', 'approval_requested'), { quorum: 0 }),
  },
  'a refusal that was acknowledged and lost': {
    rule: 'I11',
    says: /an answer to refuse said that it is done, and the log has none/,
    change: ({ h }) => {
      for (const entry of h.clients) if (entry.operation === 'approve') entry.operation = 'refuse';
    },
  },
};

type Row = { data: Record<string, unknown> };

function requestOf({ data }: Row, change: object): void {
  Object.assign(data['request'] as object, change);
}
