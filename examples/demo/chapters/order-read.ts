import type { Story } from '../story.js';

/** A read, as a warm-up: the agent looks at the order instead of guessing the amount. */
export async function orderRead({ agent, watch, narrator }: Story, order: string): Promise<void> {
  narrator.chapter('The agent reads the order');
  const { result, error } = await agent.submit({ stepId: 'read', tool: 'orders.get', args: { order_id: order } }, 5);
  if (result?.status !== 'committed') {
    throw new Error(`not even an order can be read (${error?.message}); the story needs the tools of examples/tools`);
  }
  await watch.until('read', 'committed', 5_000);
}
