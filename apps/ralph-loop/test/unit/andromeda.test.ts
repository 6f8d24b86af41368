import { describe, expect, it } from 'vitest';
import { collectIdeas } from '../../audit/ideas/collect-ideas.ts';
import { ProgressCounter } from '../../audit/progress-counter.ts';
import { fixturePath, plantedIn, spotsOf } from './fixture.ts';

describe('ANDROMEDA', () => {
  it('finds everything that is planted, and no decoy', async () => {
    const root = fixturePath('andromeda');
    const { findings, notes } = await collectIdeas(root, new ProgressCounter());
    expect(plantedIn(root).length).toBeGreaterThan(22);
    expect(spotsOf(findings)).toEqual(plantedIn(root));
    expect(notes).toEqual([]);
  });

  it('says what is to be done, who said so, and what to use instead', async () => {
    const { findings } = await collectIdeas(fixturePath('andromeda'), new ProgressCounter());
    const messages = findings.map(({ message }) => message.replace(/ (\/\/|#|--)? ?planted:.*/, ''));
    expect(messages).toContain('To do: handle returns');
    expect(messages).toContain('To do (alice): handle refunds');
    expect(messages).toContain('To be mended: rounding');
    expect(messages).toContain('plus is marked @deprecated in src/index.ts: Use `add` instead.');
  });
});
