import { FakeClock } from '../../../../test/fixtures/fake-clock.ts';
import type { LoopEvent } from '../../loop/loop-event.ts';
import type { RunMissionDeps } from '../../loop/mission-run.ts';
import type { MissionProgress } from '../../loop/mission-progress.ts';
import { runMission } from '../../loop/run-mission.ts';
import { parseMission } from '../../mission/read-mission.ts';
import type { FakeTeam } from './fake-team.ts';

type Tasks = readonly Record<string, unknown>[];

export const missionOf = (tasks: Tasks, limits: Record<string, number> = { maxAttempts: 2 }) =>
  parseMission(
    JSON.stringify({
      version: 1,
      name: 'test',
      limits,
      tasks: tasks.map((task) => ({ title: 'T', ...task })),
    }),
    'test',
  );

/** A mission begun over a team of fakes: its events so far, and a promise of any that is yet to come. */
export const start = (
  team: FakeTeam,
  mission: ReturnType<typeof missionOf>,
  signal?: AbortSignal,
  progress?: Pick<MissionProgress, 'runId' | 'accepted' | 'accept'> & Partial<MissionProgress>,
  cores?: number,
  code?: RunMissionDeps['code'],
) => {
  const clock = new FakeClock();
  const events: LoopEvent[] = [];
  const waiting: { test: (event: LoopEvent) => boolean; found: () => void }[] = [];
  const onEvent = (event: LoopEvent) => {
    events.push(event);
    for (const { test, found } of waiting) if (test(event)) found();
  };
  const seen = (test: (event: LoopEvent) => boolean) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    if (events.some(test)) resolve();
    else waiting.push({ test, found: resolve });
    return promise;
  };
  const outcome = runMission(
    mission,
    { root: '/repo', onEvent, ...(signal === undefined ? {} : { signal }) },
    {
      team,
      clock,
      ...(progress === undefined
        ? {}
        : { progress: { spent: new Map(), spend: () => Promise.resolve(), ...progress } }),
      ...(code === undefined ? {} : { code }),
      ...(cores === undefined ? {} : { cores }),
    },
  );
  return { clock, events, seen, outcome };
};

export const run = (team: FakeTeam, mission: ReturnType<typeof missionOf>) => start(team, mission).outcome;

/** What a gate answers, which accepts nothing and refuses nothing but what is said. */
export const verdict = (over: Record<string, unknown>) => ({
  verdict: 'APPROVED',
  approved: [],
  rejected: [],
  feedback: '',
  ...over,
});
