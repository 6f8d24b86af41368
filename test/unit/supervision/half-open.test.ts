import { describe, expect, it } from 'vitest';
import type { SupervisorOptions } from '../../../runtime/supervision/supervisor-options.ts';
import { SupervisedTeam } from '../../fixtures/supervised-team.ts';

const TRIAL = { firstMs: 1_000, factor: 2, jitter: 0, maxMs: 3_000 };

/** A team whose agents `a` and `b` are one group that has been given up. */
function givenUp(options: SupervisorOptions = {}): SupervisedTeam {
  const team = new SupervisedTeam({
    groups: [{ name: 'core', agents: ['a', 'b'], intensity: { maxRestarts: 1, withinMs: 10_000 } }],
    backOff: { firstMs: 1, maxMs: 1 },
    halfOpen: TRIAL,
    ...options,
  });
  team.run(['a', 'b']);
  for (let death = 0; death < 2; death++) {
    team.crash('a');
    team.clock.advance(1);
    if (death === 0) team.supervisor.started('a');
  }
  expect(team.statuses('a', 'b')).toEqual(['failed', 'failed']);
  team.taken();
  return team;
}

const runs = (team: SupervisedTeam): void => {
  for (const id of ['a', 'b']) team.supervisor.started(id);
};

describe('A group that was given up (half-open)', () => {
  it('is tried again as a whole after a while, and says when', () => {
    const team = givenUp();
    const { retryAtMs = 0 } = team.supervisor.status('a');
    const leftMs = retryAtMs - team.clock.now();
    expect(leftMs).toBeGreaterThan(0);
    team.clock.advance(leftMs - 1);
    expect(team.taken()).toEqual([]);
    team.clock.advance(1);
    expect(team.taken()).toEqual(['start again a,b']);
    expect(team.statuses('a', 'b')).toEqual(['starting', 'starting']);
    expect(team.supervisor.status('a').retryAtMs).toBeUndefined();
    expect(team.events.at(-1)).toMatchObject({
      type: 'agent-restarting',
      reason: expect.stringContaining('half-open'),
    });
  });

  it('is given up again by the first death, and then for longer, up to the longest', () => {
    const team = givenUp();
    const waits: number[] = [];
    for (let round = 0; round < 4; round++) {
      const waitMs = (team.supervisor.status('a').retryAtMs ?? 0) - team.clock.now();
      waits.push(waitMs);
      team.clock.advance(waitMs);
      runs(team);
      team.crash('b');
      expect(team.statuses('a', 'b')).toEqual(['failed', 'failed']);
    }
    // The time of the first death is part of the first wait.
    expect(waits.map((ms) => Math.round(ms / 100) * 100)).toEqual([1_000, 2_000, 3_000, 3_000]);
  });

  it('is as any other when it has run for a window without a death', () => {
    const team = givenUp();
    team.clock.advance(1_000);
    runs(team);
    team.clock.advance(10_001);
    team.taken();
    team.crash('a');
    expect(team.statuses('a', 'b')).toEqual(['starting', 'running']);
    team.supervisor.started('a');
    team.crash('a');
    expect(team.statuses('a', 'b')).toEqual(['failed', 'failed']);
    expect((team.supervisor.status('a').retryAtMs ?? 0) - team.clock.now()).toBe(1_000);
  });

  it('waits for somebody to restart it where that is what its options say', () => {
    for (const options of [
      { halfOpen: false as const },
      {
        groups: [
          { name: 'core', agents: ['a', 'b'], intensity: { maxRestarts: 1 }, halfOpen: false as const },
        ],
      },
    ]) {
      const team = givenUp(options as SupervisorOptions);
      team.clock.advance(100_000_000);
      expect(team.taken()).toEqual([]);
      expect(team.supervisor.status('a').retryAtMs).toBeUndefined();
      expect(team.clock.pending).toBe(0);
    }
  });

  it('is not tried again when it was stopped, or restarted by hand, meanwhile', () => {
    const team = givenUp();
    team.supervisor.restart('a');
    team.supervisor.stop('b');
    team.supervisor.started('a');
    team.taken();
    team.clock.advance(100_000);
    expect(team.taken()).toEqual([]);
    expect(team.statuses('a', 'b')).toEqual(['running', 'stopped']);
  });
});
