import { StepFailure } from './step-failure.mjs';

const began = performance.now();
const heartbeatMs = 10_000;

/** One line of progress, with the seconds since the launcher began. */
export function say(text) {
  console.log(`[${((performance.now() - began) / 1000).toFixed(1).padStart(5)}s] ${text}`);
}

/**
 * Runs one step of the launcher and shows it. `work` gets `note(text)`, whose last text is shown when the step is
 * done. An error that is not yet explained becomes a StepFailure of this step.
 */
export async function step(
  name,
  work,
  whatToDo = 'see the message above; run the same command again when it is fixed',
) {
  let detail = 'ready';
  const started = performance.now();
  const beat = setInterval(() => {
    say(`${name}: still working (${Math.round((performance.now() - started) / 1000)} s)`);
  }, heartbeatMs);
  try {
    const result = await work((text) => {
      detail = text;
    });
    say(`${name}: ${detail}`);
    return result;
  } catch (error) {
    if (error instanceof StepFailure) throw error;
    throw new StepFailure(name, error instanceof Error ? error.message : String(error), whatToDo, error?.log);
  } finally {
    clearInterval(beat);
  }
}
