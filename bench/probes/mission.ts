import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { runChild } from '../child-process.ts';
import { withDescendants } from '../descendants.ts';
import type { MissionTimes } from '../children/mission-run.ts';
import type { ToolTimes } from '../children/mission-tools.ts';
import { type Effort, type Goal, type Probe, type Reading, Unavailable } from '../measurement.ts';
import type { Plugin } from '../plugin.ts';
import { repeatedReading } from '../repeated-reading.ts';

const TOOLS = new URL('../children/mission-tools.ts', import.meta.url);
const MISSION = new URL('../children/mission-run.ts', import.meta.url);
const CHILD_MS = 600_000;
const MOST_RUNS = 3;
/** What a mission may take beside its tools: agents are started, results are gathered, checked and reported. */
const ALLOWANCE_MS = 2_000;
const GOAL: Goal = { better: 'less', floor: 1.15 };

/** The audit of this repository beside its tools run alone, in turns, each in a process of its own. */
const mission: Probe = {
  kind: 'probe',
  name: 'mission',
  title: 'The audit of this repository as a mission, beside its tools alone (median)',
  read: async ({ rounds }: Effort): Promise<readonly Reading[]> => {
    if (!existsSync('/proc/self/stat')) throw new Unavailable('no /proc here, which tells processor time');
    const runs: Round[] = [];
    for (let run = 0; run < Math.min(rounds, MOST_RUNS); run++) runs.push(await oneRound());
    const longest = runs[0]?.longest ?? '';
    return [
      repeatedReading(
        runs.map(({ longestMs }) => longestMs),
        { name: `the longest tool alone (${longest})`, unit: 'ms' },
      ),
      repeatedReading(
        runs.map(({ sharedMs }) => sharedMs),
        { name: 'the processor time of all tools alone, by the cores', unit: 'ms' },
      ),
      repeatedReading(
        runs.map(({ missionMs }) => missionMs),
        { name: 'the mission', unit: 'ms' },
      ),
      repeatedReading(
        runs.map(
          ({ missionMs, longestMs, sharedMs }) => (missionMs - ALLOWANCE_MS) / Math.max(longestMs, sharedMs),
        ),
        { name: 'the mission without 2 s, by the larger of both', unit: 'times', goal: GOAL },
      ),
      repeatedReading(
        runs.map(({ missionCpuMs, toolsCpuMs }) => (missionCpuMs - ALLOWANCE_MS) / toolsCpuMs),
        { name: 'its processor time without 2 s, by that of the tools', unit: 'times', goal: GOAL },
      ),
    ];
  },
};

interface Round {
  readonly longest: string;
  readonly longestMs: number;
  readonly sharedMs: number;
  readonly toolsCpuMs: number;
  readonly missionMs: number;
  readonly missionCpuMs: number;
}

async function oneRound(): Promise<Round> {
  const alone = await withDescendants(() => runChild({ module: TOOLS, timeoutMs: CHILD_MS }));
  const together = await withDescendants(() => runChild({ module: MISSION, timeoutMs: CHILD_MS }));
  const tools = alone.answer as readonly ToolTimes[];
  const whole = together.answer as MissionTimes;
  if (whole.stopReason !== 'all-accepted') throw new Error(`the mission ended as ${whole.stopReason}`);
  const walls = tools.map(({ wallMs }) => wallMs);
  const longestMs = Math.max(...walls);
  return {
    longest: tools.find(({ wallMs }) => wallMs === longestMs)?.name ?? '',
    longestMs,
    sharedMs: alone.byOthers.cpuMs / availableParallelism(),
    toolsCpuMs: alone.byOthers.cpuMs,
    missionMs: whole.wallMs,
    missionCpuMs: together.byChildren.cpuMs + together.byOthers.cpuMs,
  };
}

export const plugin: Plugin = { measurements: [mission] };
