import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ProgressCounter } from '../../audit/progress-counter.ts';
import { CROSS_SPEC_RULES, SPEC_RULES } from '../../audit/specs/rules.ts';
import { checkSpecs } from '../../audit/specs/specs-check.ts';
import { fixturePath, plantedIn, spotsOf, TemporaryFolder } from './fixture.ts';

const check = (root: string) => checkSpecs(root, new ProgressCounter());

async function checkFiles(files: Readonly<Record<string, string>>) {
  using repo = new TemporaryFolder();
  for (const [file, text] of Object.entries(files)) writeFileSync(join(repo.path, file), text);
  return await check(repo.path);
}

const definitions = (count: number): string =>
  Array.from({ length: count }, (_, index) => `- **REQ-${index + 1}**: it shall do so.`).join('\n');

describe('EARTH', () => {
  it('finds everything that is planted, and no decoy', async () => {
    const root = fixturePath('earth');
    const { findings, notes } = await check(root);
    expect(new Set(plantedIn(root).map((spot) => spot.split(' ')[0]))).toEqual(
      new Set(Object.keys({ ...SPEC_RULES, ...CROSS_SPEC_RULES })),
    );
    expect(spotsOf(findings)).toEqual(plantedIn(root));
    expect(notes).toEqual([]);
  });

  it('misses an id only where there is a list of such ids, most of which it knows', async () => {
    const undefinedIn = async (list: string, text: string) =>
      (await checkFiles({ 'list.md': list, 'text.md': text })).findings.map(
        ({ message }) => message.split(' ')[0],
      );
    expect(await undefinedIn(definitions(3), 'As REQ-9 says.')).toEqual(['REQ-9']);
    expect(await undefinedIn(definitions(2), 'As REQ-9 says.')).toEqual([]);
    expect(await undefinedIn(definitions(3), 'REQ-7, REQ-8, REQ-9')).toEqual([]);
    expect(await undefinedIn(definitions(4), 'REQ-7, REQ-8, REQ-9').then((ids) => ids.sort())).toEqual([
      'REQ-7',
      'REQ-8',
      'REQ-9',
    ]);
  });

  it.each([
    ['a.md', 'z.md'],
    ['z.md', 'a.md'],
  ])('knows what %s defines when %s cites it', async (list, text) => {
    expect((await checkFiles({ [list]: definitions(3), [text]: 'As REQ-2 says.' })).findings).toEqual([]);
  });

  it('shows a text that ends too early at its last line', async () => {
    const text = 'Feature: A\n  Scenario: B\n    Given c\n      """\n      d\n\n\n';
    const { findings } = await checkFiles({ 'a.feature': text });
    expect(findings).toMatchObject([{ rule: 'specs.gherkin-error', line: 5, evidence: 'd' }]);
  });

  it('reads features in other languages', async () => {
    const text = '# language: fr\nFonctionnalité: A\n  Plan du scénario: B\n    Soit <c>\n    Alors d\n';
    expect((await checkFiles({ 'a.feature': text })).findings).toMatchObject([
      { rule: 'specs.outline-without-examples', line: 3 },
    ]);
  });

  it('survives a list that is nothing but nesting', async () => {
    const { findings, notes } = await checkFiles({ 'deep.md': `${'- '.repeat(20_000)}REQ-1` });
    expect(findings).toEqual([]);
    expect(notes).toMatchObject([{ kind: 'unparsable', file: 'deep.md' }]);
  });

  it('reads no feature that is longer than any is', async () => {
    const { findings, notes } = await checkFiles({ 'long.feature': `Scenario: a${'\n'.repeat(100_000)}` });
    expect([findings, notes]).toMatchObject([[], [{ kind: 'unparsable', file: 'long.feature' }]]);
  });

  it('says that there is nothing to look at', async () => {
    expect((await checkFiles({})).notes).toMatchObject([{ kind: 'empty' }]);
  });
});
