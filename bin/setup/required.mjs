import { StepFailure } from './step-failure.mjs';

/** Ends the whole run, with an explanation, when a process that everything else needs ends by itself. */
export function endRunWith(session, child) {
  void child.exited.then((ended) => {
    if (session.processes.stopping) return;
    const advice = 'run the same command again, nothing stored is lost; if it happens twice, look into the log';
    session.fail(new StepFailure(child.name, `ended by itself with ${ended}`, advice, child.logFile));
  });
}
