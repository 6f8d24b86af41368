import { readFile } from 'node:fs/promises';
import { refused } from 'orrery';
import { PLANETS } from 'orrery/planets';
import { Baseline, compareReports } from '../about-mission/compare-reports.ts';
import { missionCompare } from '../capabilities.ts';
import { missionPlanet } from '../planet.ts';

export const atlas = missionPlanet(PLANETS.atlas, missionCompare, async ({ results, baseline }, ctx) => {
  if (baseline === undefined) return { notes: [], summary: 'There is no earlier report to compare with.' };
  const earlier = await ctx.effect<Baseline | string>('read-baseline', () => readBaseline(baseline));
  if (typeof earlier === 'string') throw refused(earlier, { baseline });
  return compareReports(results, earlier);
});

/** Reads an earlier report; resolves to a sentence if the file is none. */
async function readBaseline(file: string): Promise<Baseline | string> {
  try {
    return Baseline.parse(JSON.parse(await readFile(file, 'utf8')));
  } catch {
    return `${file} is not a report as orrery run --json writes it`;
  }
}
