import { type CataloguedMeasurement, packagesOf } from './catalogue.ts';
import { type Busyness, type Sight, sight, timesBetween } from './machine/busyness.ts';
import { calibrate } from './machine/calibration.ts';
import { thisMachine } from './machine/machine.ts';
import { versionsOf } from './machine/versions.ts';
import type { Effort } from './measurement.ts';
import { aboutText, endText, resultText } from './report/text-report.ts';
import { type BenchReport, REPORT_VERSION, type Result } from './results/bench-report.ts';
import { runMeasurement } from './run/run-measurement.ts';

/**
 * - `busyness`  of the machine, before anything of this was loaded.
 * - `say`       gets the text of each part when that is there.
 */
export interface MeasureOptions {
  readonly effort: Effort;
  readonly busyness: Busyness;
  readonly say: (text: string) => void;
}

/** Measures one after the other. */
export async function measure(
  measurements: readonly CataloguedMeasurement[],
  { effort, busyness, say }: MeasureOptions,
): Promise<BenchReport> {
  const startedAt = new Date().toISOString();
  const versions = await versionsOf(packagesOf(measurements));
  const about = {
    version: REPORT_VERSION,
    startedAt,
    effort,
    machine: thisMachine(),
    versions,
    busyness,
  } as const;
  const start = await calibrate();
  say(aboutText({ ...about, calibration: { start } }));
  const first = sight();
  const results: Result[] = [];
  for (const measurement of measurements) {
    const result = await runMeasurement(measurement, effort);
    say(`\n${resultText(result)}`);
    results.push(result);
  }
  const stealShare = stolenBetween(first, sight());
  const calibration = { start, end: await calibrate() };
  const report = { ...about, endedAt: new Date().toISOString(), calibration, stealShare, results };
  say(`\n${endText(report)}`);
  return report;
}

function stolenBetween(before: Sight, after: Sight): number {
  const { busyMs, idleMs, stealMs } = timesBetween(before.times, after.times);
  return stealMs / Math.max(1, busyMs + idleMs + stealMs);
}
