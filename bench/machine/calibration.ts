import { z } from 'zod';
import { runChild } from '../child-process.ts';

/** Pieces of each job a second, by its name. */
const Rates = z.record(z.string(), z.number().positive());

/**
 * How fast a machine is: jobs that never change, done by one thread, and by as many as the machine has cores. An index is the
 * geometric mean over the jobs, where 100 is the machine that `REFERENCE` was measured on.
 */
export const Calibration = z.strictObject({
  oneCore: z.number().positive(),
  allCores: z.number().positive(),
  rates: z.strictObject({ oneCore: Rates, allCores: Rates }),
});
export type Calibration = z.infer<typeof Calibration>;

/** What is 100: one thread of a virtual x64 machine with two cores, Node 26.10. */
const REFERENCE: Readonly<Record<string, number>> = {
  hash: 23_000,
  json: 20_000,
  copy: 5_200,
  objects: 13_000,
  messages: 220_000,
};

/** Beyond this two indexes are not of the same speed. */
export const SAME_SPEED = 0.05;

const CHILD = new URL('./calibration-child.ts', import.meta.url);
const CHILD_MS = 60_000;
const Printed = Calibration.shape.rates;

export async function calibrate(): Promise<Calibration> {
  const rates = Printed.parse(await runChild({ module: CHILD, timeoutMs: CHILD_MS }));
  return { oneCore: speedIndex(rates.oneCore), allCores: speedIndex(rates.allCores), rates };
}

export function speedIndex(rates: Readonly<Record<string, number>>): number {
  const logs = Object.entries(REFERENCE).map(([job, reference]) =>
    Math.log((rates[job] ?? Number.NaN) / reference),
  );
  return 100 * Math.exp(logs.reduce((sum, log) => sum + log, 0) / logs.length);
}

/** By how much the machine was faster at the end than at the start, as a share; of one core or of all, what is more. */
export function speedChange(start: Calibration, end: Calibration): number {
  const changes = [end.oneCore / start.oneCore - 1, end.allCores / start.allCores - 1];
  return changes.reduce((most, change) => (Math.abs(change) > Math.abs(most) ? change : most));
}
