import { describe, expect, it } from 'vitest';
import { DEFAULT_TIER_ASSIGNMENTS, PLANETS } from '../../../actors/planets/index.ts';

/** Copied from the seed. */
const SEED_TIERS = {
  sun: 0,
  mercury: 1,
  earth: 1,
  jupiter: 1,
  venus: 2,
  mars: 2,
  pluto: 2,
  saturn: 2,
  titan: 2,
  enceladus: 3,
  ganymede: 3,
  neptune: 3,
  charon: 3,
  uranus: 3,
  europa: 3,
  mimas: 3,
  io: 3,
  triton: 3,
  callisto: 3,
  atlas: 3,
  andromeda: 3,
};

describe('Planets (N-11.1, N-D21, N-T03)', () => {
  it('stand on the tiers that the specification gives them', () => {
    expect(DEFAULT_TIER_ASSIGNMENTS).toEqual(SEED_TIERS);
  });

  it('have an identity of their own each', () => {
    for (const [id, planet] of Object.entries(PLANETS)) {
      expect(planet).toMatchObject({ id, name: id.toUpperCase(), version: '1.0.0' });
    }
    const descriptions = Object.values(PLANETS).map(({ description }) => description);
    expect(new Set(descriptions).size).toBe(21);
  });
});
