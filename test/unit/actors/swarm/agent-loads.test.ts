import { describe, expect, it } from 'vitest';
import { AgentLoads } from '../../../../actors/swarm/live-assignments.ts';

describe('The load of an agent (N-8.2)', () => {
  it('is what everybody knows of it, until something is given to it', () => {
    const loads = new AgentLoads();
    expect([loads.of('mars', 0), loads.of('mars', 4), loads.of('mars', Number.POSITIVE_INFINITY)]).toEqual([
      0,
      4,
      Number.POSITIVE_INFINITY,
    ]);
  });

  it('counts what was given on top of that as long as nothing else is known, and then what is known', () => {
    const loads = new AgentLoads();
    loads.add('mars', 3);
    expect(loads.of('mars', 3)).toBe(4);
    loads.add('mars', 3);
    expect(loads.of('mars', 3)).toBe(5);
    expect(loads.of('mars', 5)).toBe(5);
    loads.add('mars', 5);
    expect(loads.of('mars', 5)).toBe(6);
    expect(loads.of('mars', 4)).toBe(4);
  });

  it('is never less than what was given and is not over', () => {
    const loads = new AgentLoads();
    const over = [loads.add('mars', 0), loads.add('mars', 0)];
    expect(loads.of('mars', 1)).toBe(2);
    over[0]?.();
    expect([loads.of('mars', 0), loads.of('mars', 1)]).toEqual([1, 1]);
    over[1]?.();
    expect([loads.of('mars', 0), loads.of('venus', 0)]).toEqual([0, 0]);
  });

  it('is of that agent alone', () => {
    const loads = new AgentLoads();
    loads.add('mars', 0);
    expect(loads.of('venus', 0)).toBe(0);
  });
});
