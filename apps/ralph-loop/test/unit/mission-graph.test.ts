import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Mission, MissionTask } from '../../mission/mission.ts';
import { missionBounds } from '../../mission/mission-bounds.ts';
import { missionGraph } from '../../mission/mission-graph.ts';

const task = (id: string, over: Partial<MissionTask> = {}): MissionTask => ({
  id,
  title: id,
  capability: 'x.y',
  ...over,
});

describe('the graph of a mission', () => {
  it('has waves, and the longest row of tasks by what they are expected to take', () => {
    const tasks = [
      task('e', { dependsOn: ['b', 'c'] }),
      task('a'),
      task('b', { dependsOn: ['a'] }),
      task('c', { estimateMs: 10, after: ['a', 'a'] }),
      task('d'),
    ];
    expect(missionGraph(tasks)).toEqual({
      waves: [['a', 'd'], ['b', 'c'], ['e']],
      criticalPath: ['a', 'c', 'e'],
    });
  });

  it('has every task once, in a wave behind all that it waits for', () => {
    const graphs = fc.array(fc.array(fc.nat(30), { maxLength: 4 }), { minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(graphs, (all) => {
        const tasks = all.map((waits, at) =>
          task(`t${at}`, { dependsOn: waits.filter((other) => other < at).map((other) => `t${other}`) }),
        );
        const { waves, criticalPath } = missionGraph(tasks);
        const waveOf = new Map(waves.flatMap((ids, wave) => ids.map((id) => [id, wave] as const)));
        expect(waves.flat()).toHaveLength(tasks.length);
        for (const { id, dependsOn = [] } of tasks) {
          const before = dependsOn.map((other) => waveOf.get(other) ?? Number.NaN);
          expect(waveOf.get(id)).toBe(Math.max(-1, ...before) + 1);
        }
        expect(criticalPath).toHaveLength(waves.length);
      }),
    );
  });
});

describe('the worst case of a mission', () => {
  const mission = (over: Partial<Mission>): Mission => ({
    version: 1,
    name: 'm',
    limits: { maxAttempts: 3 },
    tasks: [task('a')],
    ...over,
  });

  it('counts every attempt of every part, and every gate twice', () => {
    expect(missionBounds(mission({}))).toEqual({ attempts: 3, timeMs: 1_800_000 });
    const several = task('s', { capability: undefined, requiredCapabilities: ['a.b', 'c.d'] });
    expect(missionBounds(mission({ tasks: [several] })).attempts).toBe(6);
    const code = { gates: [{ name: 'g', run: 'x', timeoutMs: 1_000 }] };
    const change = task('c', { capability: 'code.change', gates: [{ name: 'h', run: 'y' }] });
    expect(missionBounds(mission({ code, tasks: [change], limits: { timeoutMs: 99_000_000 } }))).toEqual({
      attempts: 2,
      timeMs: 2 * (3_600_000 + 2 * 1_000 + 2 * 600_000),
    });
  });

  it('is no longer than the mission may take', () => {
    expect(missionBounds(mission({ limits: { timeoutMs: 5_000 } })).timeMs).toBe(5_000);
  });
});
