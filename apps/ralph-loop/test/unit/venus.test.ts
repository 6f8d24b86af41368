import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ACCESSIBILITY_CHECK } from '../../audit/accessibility/accessibility-check.ts';
import { scanFiles } from '../../audit/file-scan.ts';
import { ProgressCounter } from '../../audit/progress-counter.ts';
import { fixturePath, plantedIn, spotsOf, TemporaryFolder } from './fixture.ts';

const check = (root: string) => scanFiles(root, ACCESSIBILITY_CHECK, new ProgressCounter());

async function spots(file: string, text: string): Promise<string[]> {
  using repo = new TemporaryFolder();
  writeFileSync(join(repo.path, file), text);
  return (await check(repo.path)).findings.map(({ rule, line, column }) => `${rule} ${line}:${column}`);
}

describe('VENUS', () => {
  it('finds everything that is planted, and no decoy', async () => {
    const root = fixturePath('venus');
    const { findings, notes } = await check(root);
    expect(new Set(plantedIn(root).map((spot) => spot.split(' ')[0]))).toEqual(
      new Set(Object.keys(ACCESSIBILITY_CHECK.rules)),
    );
    expect(spotsOf(findings)).toEqual(plantedIn(root));
    expect(notes).toEqual([]);
  });

  it.each([
    ['<img src="a.png">', '<img src="a.png" alt="">'],
    ['<button></button>', '<button>Go</button>'],
    ['<input>', '<label>Name <input></label>'],
    ['<input id="a">', '<label for="a">Name</label><input id="a">'],
    ['<label>Name</label>', '<label>Name <select></select></label>'],
    ['<div onclick="go()">Go</div>', '<div role="button" tabindex="0" onclick="go()">Go</div>'],
    ['<a href="/" aria-hidden="true">Go</a>', '<a href="/" aria-hidden="true" tabindex="-1">Go</a>'],
    ['<p tabindex="1">A</p>', '<p tabindex="0">A</p>'],
    ['<p aria-lable="a">A</p>', '<p aria-label="a">A</p>'],
    ['<p id="a"></p><p id="a"></p>', '<p id="a"></p><p id="b"></p>'],
    ['<iframe src="/"></iframe>', '<iframe src="/" title="A"></iframe>'],
    ['<html><title>A</title></html>', '<html lang="en"><title>A</title></html>'],
  ])('finds %s, and not %s', async (wrong, right) => {
    expect(await spots('page.html', wrong)).toHaveLength(1);
    expect(await spots('page.html', right)).toEqual([]);
  });

  it('counts places in what is written, not in what the parser makes of it', async () => {
    expect(await spots('page.html', '&amp;&#x1f600;😀<table>\r\n  <img><tr><td></table>')).toEqual([
      'ui.image-without-alt 2:3',
    ]);
    expect(await spots('part.jsx', "const a = '😀';\nexport const B = () => <p>{a}<img /></p>;\n")).toEqual([
      'ui.image-without-alt 2:30',
    ]);
  });

  it('finds each element once, however deep it stands', async () => {
    const nested = `${'<div>'.repeat(40)}{a && <b><img /></b>}${'</div>'.repeat(40)}`;
    expect(await spots('deep.jsx', `export const A = (a) => (${nested});`)).toHaveLength(1);
  });

  it('survives pages that are nothing but nesting', async () => {
    using repo = new TemporaryFolder();
    writeFileSync(join(repo.path, 'deep.html'), '<div>\n'.repeat(100_000));
    const { findings, notes } = await check(repo.path);
    expect(findings).toEqual([]);
    expect(notes).toEqual([
      { kind: 'unparsable', file: 'deep.html', reason: 'is nested too deeply to be walked' },
    ]);
  });

  it('looks at no documentation, and says that there is nothing else', async () => {
    using repo = new TemporaryFolder();
    writeFileSync(join(repo.path, 'code.ts'), 'export const a = 1;');
    expect(await check(repo.path)).toMatchObject({ findings: [], notes: [{ kind: 'empty' }], filesSeen: 0 });
  });
});
