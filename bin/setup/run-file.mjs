import fs from 'node:fs';
import path from 'node:path';
import { writePrivateFile } from './paths.mjs';

/**
 * `run.json` of a state directory (0600): where the running stack is and how to get in. The command line and the demo
 * read it; it is there only while the stack runs.
 */
export function runFile(stateDir) {
  const file = path.join(stateDir, 'run.json');
  return {
    file,
    write: (content) => writePrivateFile(file, `${JSON.stringify(content, null, 2)}\n`),
    remove: () => fs.rmSync(file, { force: true }),
  };
}

/** What `run.json` says about a stack, before services and upstream are added. */
export function describeStack({ credentials, ownerUrl, appUrl, natsUrl, postgresPid, natsPid, environment }) {
  return {
    natsUrl,
    databaseUrl: appUrl,
    ownerDatabaseUrl: ownerUrl,
    toolsDir: environment.INTENDANT_TOOLS_DIR,
    policyDir: environment.INTENDANT_POLICY_DIR && path.resolve(environment.INTENDANT_POLICY_DIR),
    egressPrivate: environment.INTENDANT_EGRESS_PRIVATE,
    tenant: credentials.tenant,
    serviceKey: credentials.serviceKey,
    operatorKey: credentials.operatorKey,
    launcherPid: process.pid,
    postgresPid,
    natsPid,
  };
}
