import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { scanFiles } from '../../audit/file-scan.ts';
import { ProgressCounter } from '../../audit/progress-counter.ts';
import { RESPONSIVE_CHECK } from '../../audit/responsive/responsive-check.ts';
import { fixturePath, plantedIn, spotsOf, TemporaryFolder } from './fixture.ts';

const check = (root: string) => scanFiles(root, RESPONSIVE_CHECK, new ProgressCounter());

describe('EUROPA', () => {
  it('finds everything planted that does not fit a telephone, and no decoy', async () => {
    const root = fixturePath('europa');
    const { findings, notes } = await check(root);
    expect(plantedIn(root).length).toBeGreaterThan(15);
    expect(spotsOf(findings)).toEqual(plantedIn(root));
    expect(notes.map(({ kind, file }) => [kind, file])).toEqual([
      ['unparsable', 'src/broken.css'],
      ['generated', 'src/vendor.min.css'],
    ]);
  });

  it('says what a web app manifest lacks', async () => {
    const { findings } = await check(fixturePath('europa'));
    expect(findings.filter(({ rule }) => rule.includes('manifest')).map(({ message }) => message)).toEqual([
      'This web app manifest has no name, no icons, no start_url: the app cannot be installed',
      'This web app manifest has no icon of 512 pixels',
    ]);
  });

  it('says that there is nothing to look at', async () => {
    using repo = new TemporaryFolder();
    expect((await check(repo.path)).notes).toMatchObject([{ kind: 'empty' }]);
  });

  it('names what it cannot parse, and pages that are too much for it', async () => {
    using repo = new TemporaryFolder();
    const write = (file: string, text: string) => writeFileSync(join(repo.path, file), text);
    write('large.html', '<b>\n'.repeat(70_000));
    write('deep.html', '<div>\n'.repeat(50_000));
    write('deep.css', `${'a {\n'.repeat(50_000)}width: 900px;\n${'}\n'.repeat(50_000)}`);
    write('large.css', 'a {}\n'.repeat(70_000));
    write('broken.webmanifest', '{');
    write('broken.jsx', '<img src=');
    const { findings, notes } = await check(repo.path);
    expect(findings).toEqual([]);
    expect(notes.map(({ kind, file }) => [kind, file])).toEqual([
      ['unparsable', 'broken.jsx'],
      ['unparsable', 'broken.webmanifest'],
      ['unparsable', 'deep.html'],
      ['unparsable', 'large.css'],
      ['unparsable', 'large.html'],
    ]);
  });
});
