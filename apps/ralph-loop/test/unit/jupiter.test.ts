import { describe, expect, it } from 'vitest';
import { auditArchitecture } from '../../audit/architecture.ts';
import type { Layer } from '../../audit/layers.ts';
import { ProgressCounter } from '../../audit/progress-counter.ts';
import { fixturePath, plantedIn, spotsOf } from './fixture.ts';

const LAYERS: Layer[] = [
  { name: 'core', match: ['core/**'], mayImport: [] },
  { name: 'app', match: ['app/**'], mayImport: ['core'] },
];

const audit = (root: string, layers: Layer[] = []) =>
  auditArchitecture(root, { layers, progress: new ProgressCounter() });

describe('JUPITER', () => {
  it('finds every circle and breach of layers that is planted, and no decoy', async () => {
    const root = fixturePath('jupiter');
    const { findings, notes } = await audit(root, LAYERS);
    expect(spotsOf(findings)).toEqual(plantedIn(root));
    expect(notes).toEqual([]);
  });
});
