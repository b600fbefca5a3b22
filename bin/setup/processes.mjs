import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { endMarked, endProcess, markName } from './ending.mjs';
import { identityOf } from './identity.mjs';
import { lastLines, openLog } from './logs.mjs';
import { readJson, root, writePrivateFile } from './paths.mjs';

/**
 * The processes of one launcher: each leads its own group, so that the terminal's Ctrl-C reaches only the launcher,
 * which stops them in the reverse order of their start. All are written to `pids.json` for the case that the launcher
 * itself is killed.
 */
export class Processes {
  stopping = false;
  #children = [];
  #stateDir;
  #file;
  #mark = randomUUID();

  constructor(stateDir) {
    this.#stateDir = stateDir;
    this.#file = path.join(stateDir, 'pids.json');
  }

  /** Ends what an earlier, killed launcher left running; returns the names. Call it once, before `start`. */
  async stopLeftovers() {
    const left = readJson(this.#file);
    const ended = [];
    for (const each of inStopOrder(left?.processes ?? [])) {
      if (each.identity === undefined || identityOf(each.pid) !== each.identity) continue;
      await endProcess(each);
      ended.push(each.name);
    }
    const strays = await endMarked(left?.mark);
    if (strays > 0) ended.push(`${strays} more`);
    this.#record();
    return ended;
  }

  /**
   * Starts one process. Its output goes to `logs/<name>.log` unless `stdio` says otherwise. The child has `pid`,
   * `logFile`, `exited` (resolves with a text such as "exit status 1") and `ended` (that text once it has ended).
   */
  start({ name, command, args, env = process.env, cwd = root, account, signal = 'SIGTERM', stopLast = false, stdio }) {
    if (this.stopping) throw new Error('stopping');
    const log = stdio ? undefined : openLog(this.#stateDir, name);
    const spawned = spawn(command, args, {
      cwd,
      env: { ...env, [markName]: this.#mark },
      detached: true,
      stdio: stdio ?? ['ignore', log.fd, log.fd],
      ...(account && { uid: account.uid, gid: account.gid }),
    });
    if (log) fs.closeSync(log.fd);
    const child = {
      name,
      pid: spawned.pid,
      signal,
      stopLast,
      logFile: log?.file,
      stdout: spawned.stdout,
      ended: undefined,
    };
    child.identity = spawned.pid === undefined ? undefined : identityOf(spawned.pid);
    child.exited = new Promise((resolve) => {
      const end = (text, status) => {
        child.ended ??= text;
        child.status = status;
        this.#children = this.#children.filter((each) => each !== child);
        this.#record();
        resolve(child.ended);
      };
      spawned.once('error', (error) => end(`"${error.message}"`, 127));
      spawned.once('exit', (code, by) => end(by ? `signal ${by}` : `exit status ${code}`, code ?? 128));
    });
    this.#children.push(child);
    this.#record();
    return child;
  }

  /** Runs a command to its end; throws with the last lines of its log when it fails or takes longer than `boundMs`. */
  async run({ boundMs = 600_000, ...spec }) {
    const child = this.start(spec);
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      void this.stop(child);
    }, boundMs);
    const ended = await child.exited;
    clearTimeout(timer);
    if (child.status === 0) return child;
    const why = late ? `did not end within ${boundMs / 1000} s` : `ended with ${ended}`;
    const message = [`${spec.label ?? spec.name} ${why}`, child.logFile && lastLines(child.logFile)];
    throw Object.assign(new Error(message.filter(Boolean).join('\n')), { log: child.logFile });
  }

  /** Ends one child and waits for it. */
  async stop(child, graceMs) {
    await endProcess(child, graceMs);
    if (child.identity !== undefined) await child.exited;
  }

  /** Ends everything, last started first, and lets nothing new start. */
  async stopAll() {
    this.stopping = true;
    for (const child of inStopOrder(this.#children)) await this.stop(child);
    await endMarked(this.#mark);
    fs.rmSync(this.#file, { force: true });
  }

  /** SIGKILL for everything, for the impatient second Ctrl-C. */
  async killAll() {
    this.stopping = true;
    await Promise.all(this.#children.map((child) => endProcess({ ...child, signal: 'SIGKILL' })));
    await endMarked(this.#mark);
  }

  #record() {
    if (this.stopping) return;
    const processes = this.#children.map(({ name, pid, identity, signal, stopLast }) => ({
      name,
      pid,
      identity,
      signal,
      stopLast,
    }));
    writePrivateFile(this.#file, JSON.stringify({ mark: this.#mark, processes }));
  }
}

/** Last started first, except what everything else writes to. */
function inStopOrder(processes) {
  return [...processes].reverse().sort((a, b) => Number(a.stopLast) - Number(b.stopLast));
}
