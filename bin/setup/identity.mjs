import { execFileSync } from 'node:child_process';
import fs from 'node:fs';

/**
 * What makes a process this process and not a later one with the same number: on Linux the boot and the start time
 * in clock ticks (proc(5), field 22 of `stat`), elsewhere the start time and command line of `ps`.
 * Undefined when no such process lives; a zombie does not live.
 */
export function identityOf(pid) {
  return process.platform === 'linux' ? fromProc(pid) : fromPs(pid);
}

function fromProc(pid) {
  try {
    const stat = fs.readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The command name in parentheses may itself hold spaces and parentheses: count from the last one.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z' || fields[0] === 'X') return undefined;
    return `${fs.readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()}:${fields[19]}`;
  } catch {
    return undefined;
  }
}

function fromPs(pid) {
  try {
    const line = execFileSync('ps', ['-o', 'state=,lstart=,command=', '-p', String(pid)], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      env: { ...process.env, LC_ALL: 'C' },
    }).trim();
    return line === '' || line.startsWith('Z') ? undefined : line.replace(/^\S+\s+/, '');
  } catch {
    return undefined;
  }
}
