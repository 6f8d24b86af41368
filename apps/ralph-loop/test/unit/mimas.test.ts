import { describe, expect, it } from 'vitest';
import { scanFiles } from '../../audit/file-scan.ts';
import { ProgressCounter } from '../../audit/progress-counter.ts';
import { RESILIENCE_CHECK } from '../../audit/resilience/resilience-check.ts';
import { fixturePath, plantedIn, spotsOf } from './fixture.ts';

const check = (root: string) => scanFiles(root, RESILIENCE_CHECK, new ProgressCounter());

describe('MIMAS', () => {
  it('finds everything that is planted, and no decoy', async () => {
    const root = fixturePath('mimas');
    const { findings, notes } = await check(root);
    expect(plantedIn(root).length).toBeGreaterThan(20);
    expect(spotsOf(findings)).toEqual(plantedIn(root));
    expect(notes).toEqual([]);
  });
});
