import { describe, expect, it } from 'vitest';
import { ProgressCounter } from '../../audit/progress-counter.ts';
import { scanSecurity } from '../../audit/security-scan.ts';
import { copyOfFixture, plantedIn, spotsOf } from './fixture.ts';

const scan = (root: string) => scanSecurity(root, new ProgressCounter());

describe('ENCELADUS', () => {
  it('finds every secret and dangerous call that is planted, and no decoy', async () => {
    using repo = copyOfFixture('enceladus');
    const { findings, notes } = await scan(repo.path);
    expect(plantedIn(repo.path).length).toBeGreaterThan(25);
    expect(spotsOf(findings)).toEqual(plantedIn(repo.path));
    expect(notes).toEqual([]);
  });
});
