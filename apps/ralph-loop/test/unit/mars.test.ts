import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ProgressCounter } from '../../audit/progress-counter.ts';
import { checkTypes } from '../../audit/types-check.ts';
import { fixturePath, plantedIn, spotsOf, TemporaryFolder } from './fixture.ts';

const check = (root: string) => checkTypes(root, new ProgressCounter());

const OPTIONS = { strict: true, target: 'ES2022', module: 'NodeNext', types: [] };

describe('MARS', () => {
  it('finds every type error that is planted, and no decoy', async () => {
    const root = fixturePath('mars');
    const { findings, notes } = await check(root);
    expect(spotsOf(findings)).toEqual(plantedIn(root));
    expect(notes).toMatchObject([{ kind: 'no-project', file: 'excluded/wrong.ts' }]);
  });

  it('says that a folder is empty, or has no project', async () => {
    using repo = new TemporaryFolder();
    expect((await check(repo.path)).notes).toMatchObject([{ kind: 'empty' }]);
    writeFileSync(join(repo.path, 'wrong.ts'), 'export const count: number = "three";\n');
    expect(await check(repo.path)).toMatchObject({ findings: [], notes: [{ kind: 'no-tsconfig' }] });
  });

  it('does not call it a defect that packages are not installed', async () => {
    using repo = new TemporaryFolder();
    writeFileSync(join(repo.path, 'tsconfig.json'), JSON.stringify({ compilerOptions: OPTIONS }));
    writeFileSync(
      join(repo.path, 'main.ts'),
      "import { load } from 'some-package';\nexport const loaded = load((value) => value);\nconst count: number = 'three';\n",
    );
    const { findings, notes } = await check(repo.path);
    expect(spotsOf(findings)).toEqual(['types.TS2322 main.ts:3']);
    expect(notes).toContainEqual({
      kind: 'packages-missing',
      file: 'tsconfig.json',
      reason: '1 error says that some-package cannot be found',
    });
  });

  it('checks what it can of a folder with links in a circle, binary files and a broken configuration', async () => {
    using repo = new TemporaryFolder();
    const at = (name: string): string => join(repo.path, name);
    mkdirSync(at('src'));
    symlinkSync('..', at('src/loop'));
    writeFileSync(at('src/data.ts'), Buffer.from([1, 0, 2]));
    writeFileSync(at('src/wrong.ts'), "export const count: number = 'three';\n");
    writeFileSync(at('tsconfig.json'), JSON.stringify({ compilerOptions: OPTIONS, include: ['src'] }));
    const { findings, notes } = await check(repo.path);
    expect(spotsOf(findings)).toEqual(['types.TS2322 src/wrong.ts:1']);
    expect(notes).toContainEqual(expect.objectContaining({ kind: 'binary', file: 'src/data.ts' }));
    writeFileSync(at('tsconfig.json'), '{ "compilerOptions": ');
    expect((await check(repo.path)).findings.map(({ file }) => file)).toContain('tsconfig.json');
  });
});
