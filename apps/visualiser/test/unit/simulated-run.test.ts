import { describe, expect, it } from 'vitest';
import { busyTeam, idsOf } from '../../../../test/fixtures/simulated-team.ts';
import { simulate } from 'orrery/simulate';
import { Recording, sentenceOf } from '../../model/index.ts';

const SEED = 4;

describe('the trace of a simulation (F-03, F-08)', () => {
  it('is opened like any other: its agents, faults and machines, at every moment of virtual time', async () => {
    const team = busyTeam(SEED);
    const result = await simulate(team);
    const { recording, reader } = Recording.ofTrace();
    reader.push(new TextEncoder().encode(result.trace()));
    reader.end();
    expect(reader.faults).toEqual([]);
    expect(reader.events).toBe(result.events.length);
    const { latest } = recording;
    expect(latest.about).toMatchObject({ name: `a simulation with seed ${SEED}`, seed: SEED });
    expect(sentenceOf(latest)).toMatch(/agents/);
    for (const id of idsOf(7)) expect([...latest.agents.keys()]).toContain(id);
    expect(latest.lives.some(({ type }) => type === 'fault')).toBe(true);
    expect(latest.totals.settled).toBe(
      result.events.filter(({ type }) => type === 'envelope-settled').length,
    );

    // Stepping through it, the machines move as the run has told of them.
    const states = new Map<string, Set<string>>();
    for (let position = 0; position <= recording.length; position++)
      for (const { machine, state } of recording.sceneAt(position).machines.values())
        states.set(machine, (states.get(machine) ?? new Set()).add(state));
    expect(states.get('agentLife')?.size).toBeGreaterThan(2);
    expect(states.get('cell')?.size).toBeGreaterThan(1);
    expect(states.get('threadRouter')?.size).toBeGreaterThan(1);
  });
});
