import { percent } from '../machine/busyness.ts';
import { SAME_SPEED, speedChange } from '../machine/calibration.ts';
import type { BenchReport } from './bench-report.ts';

const MOST_STEAL = 0.01;
/** Below this many rounds quartiles say little. */
const FEWEST_ROUNDS = 5;

/** What speaks against the figures of a run, a sentence each. */
export function doubtsOf({
  busyness,
  calibration,
  stealShare,
  effort,
  versions,
}: BenchReport): readonly string[] {
  const change = speedChange(calibration.start, calibration.end);
  const { commit, isDirty } = versions.orrery;
  return [
    ...(busyness.isQuiet ? [] : [`The machine was not quiet: ${busyness.reasons.join('; ')}.`]),
    ...(Math.abs(change) > SAME_SPEED
      ? [
          `The machine changed its speed: it was ${percent(Math.abs(change))} ${change > 0 ? 'faster' : 'slower'} at the end.`,
        ]
      : []),
    ...(stealShare > MOST_STEAL
      ? [`The hypervisor took ${percent(stealShare)} of all cores meanwhile.`]
      : []),
    ...(effort.rounds < FEWEST_ROUNDS ? [`${effort.rounds} rounds are a look, not a figure.`] : []),
    ...(isDirty === true ? [`Files differed from commit ${commit?.slice(0, 8)}.`] : []),
  ];
}
