import { killedAfterEffect } from './chapters/killed-after-effect.js';
import { mailTimedOut } from './chapters/mail-timed-out.js';
import { orderRead } from './chapters/order-read.js';
import { otherAmount } from './chapters/other-amount.js';
import { personAsked } from './chapters/person-asked.js';
import { refundAnswered502 } from './chapters/refund-answered-502.js';
import { ticketReset } from './chapters/ticket-reset.js';
import { trustedFields } from './chapters/trusted-fields.js';
import { orderId, type Story } from './story.js';

/** The chapters, one after the other. Throws where one cannot go on. */
export async function tell(story: Story): Promise<void> {
  const order = orderId(story, 'a');
  await orderRead(story, order);
  const refund = await refundAnswered502(story, order);
  await mailTimedOut(story);
  await killedAfterEffect(story);
  await ticketReset(story);
  await otherAmount(story, refund);
  await trustedFields(story);
  await personAsked(story);
}
