import { describe, expect, it } from 'vitest';
import { ProgressCounter } from '../../audit/progress-counter.ts';
import { checkTypes } from '../../audit/types-check.ts';
import { fixturePath, plantedIn, spotsOf } from './fixture.ts';

const check = (root: string) => checkTypes(root, new ProgressCounter());

describe('MARS', () => {
  it('finds every type error that is planted, and no decoy', async () => {
    const root = fixturePath('mars');
    const { findings, notes } = await check(root);
    expect(spotsOf(findings)).toEqual(plantedIn(root));
    expect(notes).toEqual([]);
  });
});
