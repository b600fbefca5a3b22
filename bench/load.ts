import { type FromLoad, report } from './ipc.js';
import { loadHttp } from './load-http.js';
import type { LoadJob } from './load-job.js';
import { loadNats } from './load-nats.js';

/** The load generator, a process of its own: one job after the other, so that it is warm when it counts. */
process.on('message', (job: LoadJob) => {
  const { target } = job;
  const work = target.protocol === 'nats' ? loadNats(job, target) : loadHttp(job, target);
  void work.then(
    (result) => report<FromLoad>({ kind: 'result', result }),
    (error: unknown) => {
      process.stderr.write(`load generator: ${String(error)}\n`);
      process.exit(1);
    },
  );
});
process.once('disconnect', () => process.exit(0));
report<FromLoad>({ kind: 'ready' });
