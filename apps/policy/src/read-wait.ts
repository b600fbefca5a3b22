import { Refusal } from '@intendant/contracts';

const longestWaitMs = 30_000;

/** `Intendant-Wait: 10s` or `500ms`, in ms, 30 s at most; 0 when there is none. @throws Refusal `invalid_message` */
export function readWait(header: string | undefined): number {
  if (header === undefined) return 0;
  const [, amount, unit] = /^(\d{1,6})(ms|s)$/.exec(header) ?? [];
  if (amount === undefined) {
    throw new Refusal(
      'invalid_message',
      `The header Intendant-Wait must be like 10s or 500ms; got "${header.slice(0, 40)}". Nothing was recorded.`,
    );
  }
  return Math.min(Number(amount) * (unit === 's' ? 1_000 : 1), longestWaitMs);
}
