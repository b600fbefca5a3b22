import { type FromLoad, report } from './ipc.js';
import { loadHttp } from './load-http.js';
import type { LoadJob, OpenJob } from './load-job.js';
import { loadNats } from './load-nats.js';
import { loadOpen } from './load-open.js';

/** The load generator, a process of its own: one job after the other, so that it is warm when it counts. */
process.on('message', (job: LoadJob | OpenJob) => {
  void run(job).then(report<FromLoad>, (error: unknown) => {
    process.stderr.write(`load generator: ${String(error)}\n`);
    process.exit(1);
  });
});

async function run(job: LoadJob | OpenJob): Promise<FromLoad> {
  if ('phases' in job) return { kind: 'open', result: await loadOpen(job) };
  const { target } = job;
  return { kind: 'result', result: await (target.protocol === 'nats' ? loadNats(job, target) : loadHttp(job, target)) };
}

process.once('disconnect', () => process.exit(0));
report<FromLoad>({ kind: 'ready' });
