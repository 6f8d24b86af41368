import { parentPort } from 'node:worker_threads';
import { CALIBRATION_JOBS, type CalibrationJobName } from './calibration-jobs.ts';

/** What a thread is told to do, and for how long; it answers with the rate. */
export interface JobOrder {
  readonly job: CalibrationJobName;
  readonly forMs: number;
}

parentPort?.on('message', async ({ job, forMs }: JobOrder) => {
  parentPort?.postMessage(await CALIBRATION_JOBS[job](forMs));
});
