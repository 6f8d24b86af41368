import { runChild } from './child-process.ts';
import {
  type Effort,
  type Measurement,
  type Probe,
  type Race,
  goalStatusOf,
  Unavailable,
} from './measurement.ts';
import type { BenchReport, ProbeResult, RaceResult, Result } from './results.ts';
import { runRace } from './run-race.ts';

const CHILD_MS = 180_000;

/** Measures one thing; what goes wrong stands in the result. `isChild` says that this process is already pinned. */
export async function runMeasurement(
  measurement: Measurement,
  effort: Effort,
  isChild: boolean,
): Promise<Result> {
  if (measurement.kind === 'probe') return readProbe(measurement, effort);
  if (measurement.onOneCore === true && !isChild) return runOnOneCore(measurement, effort);
  return runRace(measurement, effort);
}

async function readProbe({ kind, name, title, read }: Probe, effort: Effort): Promise<ProbeResult> {
  try {
    const readings = await read(effort);
    const judged = readings.map((reading) => ({
      ...reading,
      goalStatus: goalStatusOf(reading.value, reading.goal),
    }));
    return { kind, name, title, readings: judged };
  } catch (error) {
    return { kind, name, title, readings: [], ...reasonOf(error) };
  }
}

/** Runs the race by this same program in a process that may use the first core only. */
async function runOnOneCore({ kind, name, title, unit }: Race, effort: Effort): Promise<RaceResult> {
  const args = [
    '--only',
    name,
    '--rounds',
    String(effort.rounds),
    '--run-ms',
    String(effort.runMs),
    '--child',
  ];
  try {
    const module = new URL('./main.ts', import.meta.url);
    const report = (await runChild({ module, args, timeoutMs: CHILD_MS, onOneCore: true })) as BenchReport;
    const [result] = report.results;
    if (result?.kind === 'race') return result;
    throw new Error('The child process measured nothing');
  } catch (error) {
    const contender = { contender: 'all', rates: [], perSecond: NOTHING, ...reasonOf(error) };
    return { kind, name, title, unit, contenders: [contender], comparisons: [] };
  }
}

const NOTHING = { median: Number.NaN, lowerQuartile: Number.NaN, upperQuartile: Number.NaN };

function reasonOf(error: unknown): { failure: string } | { unavailable: string } {
  const reason = error instanceof Error ? error.message : String(error);
  return error instanceof Unavailable ? { unavailable: reason } : { failure: reason };
}
