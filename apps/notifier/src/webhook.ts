import { subjects } from '@intendant/contracts';
import { wallClock } from '@intendant/runtime';
import type { Postman } from '@intendant/upstream';
import type { Channel } from './channel.js';
import { signedHeaders } from './sign.js';
import type { WebhookSetting } from './webhook-settings.js';

/** Nothing of the answer's body is used. */
const answerBytes = 4_096;
const gone = 410;

/** Signed with the time of each try; the id and the body are the same on all of them. */
export function webhook({ name, url, secrets, tenant, events }: WebhookSetting, postman: Postman): Channel {
  return {
    name: `webhook-${name}`,
    subjects: events.map((event) => subjects.event(tenant, '*', '*', event)),
    send: async (notice) => {
      const body = JSON.stringify(notice);
      const headers = signedHeaders(secrets, notice.id, wallClock(), body);
      const reply = await postman.post({ url, headers, body, answerBytes });
      if (reply.kind === 'failed') return { kind: 'failed', why: reply.why, retryAfterMs: null };
      const { status, retryAfterMs } = reply;
      if (status >= 200 && status < 300) return { kind: 'delivered' };
      if (status === gone) return { kind: 'refused', why: 'http_410' };
      return { kind: 'failed', why: `http_${status}`, retryAfterMs };
    },
  };
}
