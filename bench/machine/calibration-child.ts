import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { spreadOf } from '../statistics.ts';
import type { JobOrder } from './calibration.worker.ts';
import { CALIBRATION_JOBS, type CalibrationJobName } from './calibration-jobs.ts';

// A process of its own, so that no earlier measurement has compiled its code or filled its heap: prints the rates as JSON.

const REPEATS = 5;
const FOR_MS = 50;

const names = Object.keys(CALIBRATION_JOBS) as CalibrationJobName[];

/** Pieces a second that all workers together do of each job; the first time is not counted. */
async function ratesOf(workers: readonly Worker[]): Promise<Record<string, number>> {
  const rates: Record<string, number> = {};
  for (const name of names) {
    await rateOf(workers, name);
    const repeats: number[] = [];
    for (let repeat = 0; repeat < REPEATS; repeat++) repeats.push(await rateOf(workers, name));
    rates[name] = spreadOf(repeats).median;
  }
  return rates;
}

async function rateOf(workers: readonly Worker[], job: CalibrationJobName): Promise<number> {
  const answers = workers.map(async (worker) => {
    const answer = once(worker, 'message');
    worker.postMessage({ job, forMs: FOR_MS } satisfies JobOrder);
    const [rate] = await answer;
    return rate as number;
  });
  return (await Promise.all(answers)).reduce((sum, rate) => sum + rate, 0);
}

const workers = Array.from(
  { length: availableParallelism() },
  () => new Worker(new URL('./calibration.worker.ts', import.meta.url)),
);
const oneCore = await ratesOf(workers.slice(0, 1));
const allCores = await ratesOf(workers);
await Promise.all(workers.map((worker) => worker.terminate()));
console.log(JSON.stringify({ oneCore, allCores }));
