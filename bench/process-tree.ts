import { readdirSync, readFileSync } from 'node:fs';

/** `USER_HZ` of Linux on every architecture Node runs on. */
const ticksPerSecond = 100;

interface ProcessInfo {
  readonly pid: number;
  readonly parent: number;
  readonly cpuSeconds: number;
}

/** One line of `/proc/<pid>/stat` (proc_pid_stat(5)); the name in brackets may itself hold spaces and brackets. */
export function parseStat(line: string): ProcessInfo {
  const fields = line
    .slice(line.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  const [, parent = 0] = fields;
  // utime, stime, and both of the children that have ended: what a process used is not lost with it.
  const ticks = fields.slice(11, 15).reduce((sum, each) => sum + each, 0);
  return { pid: Number.parseInt(line, 10), parent, cpuSeconds: ticks / ticksPerSecond };
}

function everyProcess(): ProcessInfo[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      return [parseStat(readFileSync(`/proc/${name}/stat`, 'utf8'))];
    } catch {
      // It ended between the two calls.
      return [];
    }
  });
}

/** CPU seconds, user and system, that a process and all below it have used so far. */
export function cpuOfTree(root: number, processes: readonly ProcessInfo[] = everyProcess()): number {
  const below = new Map<number, ProcessInfo[]>();
  for (const each of processes) below.set(each.parent, [...(below.get(each.parent) ?? []), each]);
  const sum = (each: ProcessInfo): number =>
    (below.get(each.pid) ?? []).reduce((total, child) => total + sum(child), each.cpuSeconds);
  const top = processes.find(({ pid }) => pid === root);
  if (!top) throw new Error(`process ${root} has ended; its CPU time cannot be counted`);
  return sum(top);
}

/** CPU seconds of each named tree. */
export function cpuOfTrees(roots: ReadonlyMap<string, number>): Map<string, number> {
  const processes = everyProcess();
  return new Map([...roots].map(([name, pid]) => [name, cpuOfTree(pid, processes)]));
}

/** Resident memory of one process in MiB. */
export function residentMiB(pid: number): number {
  const kib = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kib) / 1024;
}

/** CPU seconds that the whole machine has been busy with. */
export function machineBusySeconds(): number {
  const [, user = 0, nice = 0, system = 0, , , interrupt = 0, softInterrupt = 0] =
    readFileSync('/proc/stat', 'utf8').slice(0, 200).split('\n')[0]?.split(/\s+/).map(Number) ?? [];
  return (user + nice + system + interrupt + softInterrupt) / ticksPerSecond;
}
