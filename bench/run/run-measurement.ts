import type { CataloguedMeasurement, CataloguedProbe } from '../catalogue.ts';
import { runChild } from '../child-process.ts';
import type { Effort } from '../measurement.ts';
import type { ProbeResult, Result } from '../results/bench-report.ts';
import { goalStatusOf } from '../results/goal-status.ts';
import { ProbeAnswer, type ProbeOrder } from './probe-protocol.ts';
import { runRace } from './run-race.ts';

const PROBE = new URL('./probe-child.ts', import.meta.url);
/** Whatever a probe starts has a limit of its own; this one finds what hangs. */
const PROBE_MS = 3_600_000;

/** Measures one thing; what goes wrong stands in the result. */
export function runMeasurement(measurement: CataloguedMeasurement, effort: Effort): Promise<Result> {
  return measurement.kind === 'probe' ? readProbe(measurement, effort) : runRace(measurement, effort);
}

async function readProbe(probe: CataloguedProbe, effort: Effort): Promise<ProbeResult> {
  const { kind, name, title, plugin } = probe;
  const answer = await answerOf({ plugin: plugin.href, probe: name, effort });
  if (!('readings' in answer)) return { kind, name, title, readings: [], ...answer };
  const readings = answer.readings.map((reading) => ({
    ...reading,
    goalStatus: goalStatusOf(reading.value, reading.goal),
  }));
  return { kind, name, title, readings };
}

async function answerOf(order: ProbeOrder): Promise<ProbeAnswer> {
  try {
    const printed = await runChild({ module: PROBE, args: [JSON.stringify(order)], timeoutMs: PROBE_MS });
    return ProbeAnswer.parse(printed);
  } catch (error) {
    return { failure: error instanceof Error ? error.message : String(error) };
  }
}
