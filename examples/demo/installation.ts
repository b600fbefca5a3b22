import fs from 'node:fs';
import path from 'node:path';

/** Where the running stack is and how to get in; the launcher writes it anew for every service process it starts. */
export interface Installation {
  readonly url: string;
  readonly upstreamUrl: string;
  readonly serviceKey: string;
  readonly operatorKey: string;
  /** The process that hosts the services. */
  readonly pid: number;
}

/** Reads it from `RUN_FILE`, or from the running stack of the working directory. Throws with what is missing. */
export function readInstallation(): Installation {
  const file = process.env['RUN_FILE'] ?? path.join('.intendant', 'run.json');
  const found = JSON.parse(readOrExplain(file)) as Partial<Record<keyof Installation, unknown>>;
  return {
    url: text(found.url, 'url'),
    upstreamUrl: process.env['DEMO_UPSTREAM_URL'] ?? text(found.upstreamUrl, 'upstreamUrl'),
    serviceKey: text(found.serviceKey, 'serviceKey'),
    operatorKey: text(found.operatorKey, 'operatorKey'),
    pid: processId(found.pid),
  };

  function text(value: unknown, name: string): string {
    if (typeof value === 'string' && value !== '') return value;
    throw new Error(`${file} has no ${name}; start the stack with npm start -- --no-demo`);
  }

  /** A wrong number would be killed in the story, so 0 (the own process group) and the like are refused. */
  function processId(value: unknown): number {
    if (Number.isSafeInteger(value) && Number(value) > 1) return Number(value);
    throw new Error(`${file} does not say which process hosts the services; start the stack with npm start`);
  }
}

function readOrExplain(file: string): string {
  try {
    return fs.readFileSync(file, 'utf8');
  } catch (error) {
    throw new Error(`Nothing runs here: ${file} cannot be read. Start it with npm start, which runs the demo as well`, {
      cause: error,
    });
  }
}
