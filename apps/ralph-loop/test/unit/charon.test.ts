import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ERRORS_CHECK } from '../../audit/errors/errors-check.ts';
import { scanFiles } from '../../audit/file-scan.ts';
import { MemoryRelief } from '../../audit/memory-relief.ts';
import { ProgressCounter } from '../../audit/progress-counter.ts';
import { verifyFindings } from '../../audit/verify-findings.ts';
import { fixturePath, plantedIn, spotsOf, TemporaryFolder } from './fixture.ts';

const check = (root: string) => scanFiles(root, ERRORS_CHECK, new ProgressCounter());

describe('CHARON', () => {
  it('finds every dropped, disguised or silent error that is planted, and no decoy', async () => {
    const root = fixturePath('charon');
    const { findings, notes } = await check(root);
    expect(plantedIn(root).length).toBeGreaterThan(20);
    expect(spotsOf(findings)).toEqual(plantedIn(root));
    expect(notes).toEqual([{ kind: 'generated', file: 'src/vendor.min.js', reason: 'is made by a program' }]);
  });

  it('says that there is nothing to look at', async () => {
    using repo = new TemporaryFolder();
    expect((await check(repo.path)).notes).toMatchObject([{ kind: 'empty' }]);
  });

  it('names what it cannot parse', async () => {
    using repo = new TemporaryFolder();
    writeFileSync(join(repo.path, 'broken.ts'), 'try { } catch {');
    writeFileSync(join(repo.path, 'deep.ts'), `throw ${'(\n'.repeat(5_000)}1${')'.repeat(5_000)};`);
    const { findings, notes } = await check(repo.path);
    expect(findings).toEqual([]);
    expect(notes.map(({ kind, file }) => [kind, file])).toEqual([
      ['unparsable', 'broken.ts'],
      ['unparsable', 'deep.ts'],
    ]);
  });

  it('lists so many of one file that they can be read', async () => {
    using repo = new TemporaryFolder();
    writeFileSync(join(repo.path, 'many.js'), 'try {\n  save();\n} catch {}\n\n'.repeat(700));
    const { findings, notes } = await check(repo.path);
    expect(findings).toHaveLength(500);
    expect(notes).toEqual([
      { kind: 'findings-left-out', file: 'many.js', reason: '200 more findings here are not listed' },
    ]);
    using memory = new MemoryRelief();
    const verified = verifyFindings(repo.path, findings, { progress: new ProgressCounter(), memory });
    expect(await verified).toMatchObject({ verdict: 'APPROVED' });
  });
});
