import path from 'node:path';
import { lastLines } from './logs.mjs';
import { root } from './paths.mjs';
import { say, step } from './progress.mjs';
import { StepFailure } from './step-failure.mjs';
import { answersOk, freePort, isFree, until } from './waiting.mjs';

const readyBoundMs = 60_000;
const restarts = { most: 5, withinMs: 30_000 };

/**
 * Starts the six services in one process and keeps them running: an unexpected end is followed by a restart, unless
 * they end again and again. `onStarted(pid, url)` is called for every process. Returns the URL once they are ready.
 */
export function startServices(session, environment, onStarted) {
  return step(
    'services',
    async (note) => {
      const port = await choosePort(session.settings.INTENDANT_HTTP_PORT);
      const url = `http://${urlHost(environment.INTENDANT_HTTP_HOST)}:${port}`;
      const spec = {
        name: 'services',
        command: process.execPath,
        // Room for young objects: requests live longer than Node's default gives them (docs/performance.md).
        args: [
          '--enable-source-maps',
          '--max-semi-space-size=64',
          path.join(root, 'dist', 'apps', 'standalone', 'src', 'main.js'),
        ],
        env: { ...environment, INTENDANT_HTTP_PORT: String(port) },
      };
      const start = () => {
        const child = session.processes.start(spec);
        onStarted(child.pid, url);
        return child;
      };
      const first = start();
      await until(() => answersOk(`${url}/readyz`), {
        boundMs: readyBoundMs,
        child: first,
        what: 'the service process',
      }).catch((error) => {
        const why = `${error.message}\n${lastLines(first.logFile)}`;
        throw new StepFailure('services', why, 'correct what the last lines name', first.logFile);
      });
      void keepRunning(session, first, start);
      note(url);
      return url;
    },
    'see the log of the services',
  );
}

async function keepRunning(session, first, start) {
  const ends = [];
  let child = first;
  for (;;) {
    const ended = await child.exited;
    if (session.processes.stopping) return;
    const now = performance.now();
    ends.push(now);
    const recent = ends.filter((at) => now - at < restarts.withinMs).length;
    if (recent > restarts.most) {
      const why = `ended ${recent} times in ${restarts.withinMs / 1000} s, the last time with ${ended}\n${lastLines(child.logFile)}`;
      session.fail(new StepFailure('services', why, 'correct what the last lines name', child.logFile));
      return;
    }
    say(`services: ended with ${ended}, starting again`);
    child = start();
  }
}

async function choosePort(given) {
  if (!given || given === '0') return freePort();
  if (await isFree(Number(given))) return given;
  throw new StepFailure(
    'services',
    `port ${given} (INTENDANT_HTTP_PORT) is in use`,
    'stop what uses it, or unset INTENDANT_HTTP_PORT to get a free port',
  );
}

/** An address that means "every interface" cannot be called; the loopback one can. */
function urlHost(host) {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}
