import type { ProbeResult, RaceResult, Result } from './bench-report.ts';

/** What `--gate` refuses: values below their floor, and contenders and probes that failed. */
export function defectsOf(results: readonly Result[]): readonly string[] {
  return results.flatMap((result) =>
    result.kind === 'probe' ? defectsOfProbe(result) : defectsOfRace(result),
  );
}

function defectsOfProbe({ name, readings, failure }: ProbeResult): readonly string[] {
  const low = readings.filter(({ goalStatus }) => goalStatus === 'BELOW FLOOR');
  return [
    ...(failure === undefined ? [] : [`${name}: ${failure}`]),
    ...low.map((reading) => `${name}: ${reading.name} is ${reading.value.toFixed(2)} ${reading.unit}`),
  ];
}

function defectsOfRace({ name, contenders, comparisons }: RaceResult): readonly string[] {
  const failed = contenders.filter(({ failure }) => failure !== undefined);
  const low = comparisons.filter(({ goalStatus }) => goalStatus === 'BELOW FLOOR');
  return [
    ...failed.map(({ contender, failure }) => `${name}: ${contender}: ${failure}`),
    ...low.map(({ contender, baseline, ratio }) => {
      return `${name}: ${contender} is ${ratio.spread.median.toFixed(2)} of ${baseline}`;
    }),
  ];
}
