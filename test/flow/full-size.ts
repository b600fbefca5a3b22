/**
 * How far a story goes: `full` with FAULTS_FULL=1, as long runs of the fault rig set it; else `short`, for a check that
 * has to be quick.
 */
export function sized<T>(short: T, full: T): T {
  return process.env['FAULTS_FULL'] === '1' ? full : short;
}
