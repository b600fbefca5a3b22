import { parentPort, workerData } from 'node:worker_threads';
import { type RunOptions, runSchedules } from './run-schedules.js';

/** A thread of its own, whose clocks may stand still while those of the rest of the rig go on. */
parentPort?.postMessage(await runSchedules(workerData as RunOptions));
