import { rmdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readProject } from '../../../../../actors/skills/project/read-project.ts';
import { GitRepository, TestFolder } from '../../../../fixtures/skills/git-repository.ts';

const contentsIn = async (root: string): Promise<Record<string, string | undefined>> =>
  Object.fromEntries((await readProject(root)).files.map(({ path, content }) => [path, content]));

describe('what is read of a project that is checked (A-17)', () => {
  it('is every file, but what others have made', async () => {
    using folder = new TestFolder().put({
      'b.txt': 'two',
      'a/c.txt': 'three',
      'node_modules/x/index.js': 'x',
      'a/node_modules/y.js': 'y',
    });
    expect((await readProject(folder.path)).files).toEqual([
      { path: 'a/c.txt', content: 'three' },
      { path: 'b.txt', content: 'two' },
    ]);
  });

  it('is in a git repository what git does not ignore, as it is now', async () => {
    using repository = new GitRepository();
    repository.put({ '.gitignore': 'out/\n', 'kept.txt': 'old', 'gone.txt': 'x', 'out/made.txt': 'made' });
    repository.git('add', '.');
    repository.git('commit', '-qm', 'first');
    repository.put({ 'kept.txt': 'new', 'untracked.txt': 'u', 'gone.txt': null });
    expect(await contentsIn(repository.path)).toEqual({
      '.gitignore': 'out/\n',
      'kept.txt': 'new',
      'untracked.txt': 'u',
    });
  });

  it('is of a folder within a git repository that folder alone', async () => {
    using repository = new GitRepository();
    repository.put({ 'top.txt': 'top', 'part/in.txt': 'in' });
    expect(await contentsIn(join(repository.path, 'part'))).toEqual({ 'in.txt': 'in' });
  });

  it('is no text where there is none, nothing behind a link, and none of the own rules', async () => {
    using folder = new TestFolder().put({
      'image.png': Buffer.from([1, 0, 2]),
      '.orrery/knowledge/rule.md': 'never say never',
    });
    symlinkSync('/etc/passwd', join(folder.path, 'passwd'));
    symlinkSync('/etc', join(folder.path, 'etc'));
    expect(await contentsIn(folder.path)).toEqual({
      'image.png': '',
      passwd: '',
      etc: '',
      '.orrery/knowledge/rule.md': '',
    });
  });

  it('is nothing behind a link that took the place of a folder', async () => {
    using outside = new TestFolder().put({ 'secret.txt': 'secret' });
    using repository = new GitRepository();
    repository.commit({ 'part/secret.txt': 'public' });
    repository.put({ 'part/secret.txt': null });
    rmdirSync(join(repository.path, 'part'));
    symlinkSync(outside.path, join(repository.path, 'part'));
    expect((await contentsIn(repository.path))['part/secret.txt']).toBeUndefined();
  });

  it('says of what is too large, alone or with others, that it is there; manifests and small files go first', async () => {
    const large = 'x'.repeat(1024 * 1024);
    using folder = new TestFolder().put({
      'over.txt': `${large}x`,
      'a.txt': large,
      'b.txt': 'b',
      'c.txt': 'ccc',
    });
    const manifest = JSON.stringify({ dependencies: { zod: '4.0.0' } });
    folder.put({ 'package.json': manifest });
    const readUpTo = async (maxBytes?: number) => {
      const { files, dependencies = [] } = await readProject(
        folder.path,
        maxBytes === undefined ? {} : { maxBytes },
      );
      expect(files).toHaveLength(5);
      expect(dependencies).toEqual([{ name: 'zod', version: '4.0.0' }]);
      return files.filter(({ content }) => content === undefined).map(({ path }) => path);
    };
    expect(await readUpTo()).toEqual(['over.txt']);
    expect(await readUpTo(manifest.length + 4 + large.length)).toEqual(['over.txt']);
    expect(await readUpTo(manifest.length + 4 + large.length - 1)).toEqual(['a.txt', 'over.txt']);
    expect(await readUpTo(manifest.length + 1)).toEqual(['a.txt', 'c.txt', 'over.txt']);
  });

  it('names the dependencies of all manifests once, and none where there is no manifest', async () => {
    using folder = new TestFolder().put({ 'a.txt': 'a' });
    expect(await readProject(folder.path)).not.toHaveProperty('dependencies');
    folder.put({
      'package.json': JSON.stringify({ dependencies: { zod: '4.0.0' }, devDependencies: { vitest: '^5' } }),
      'part/package.json': JSON.stringify({ dependencies: { zod: '4.0.0', yaml: '2' }, peerDependencies: 7 }),
      'other/package.json': '{ not JSON',
    });
    const { dependencies } = await readProject(folder.path);
    expect(dependencies?.map(({ name, version }) => `${name}@${version}`).toSorted()).toEqual([
      'vitest@^5',
      'yaml@2',
      'zod@4.0.0',
    ]);
  });

  it('is refused where it is too much, or no folder', async () => {
    using folder = new TestFolder();
    const none = join(folder.path, 'none');
    await expect(readProject(none)).rejects.toMatchObject({
      code: 'INVALID_OPTIONS',
      details: { field: 'folder', value: JSON.stringify(none) },
    });
    folder.put(Object.fromEntries(Array.from({ length: 10_001 }, (_, at) => [`${at}.txt`, ''])));
    await expect(readProject(folder.path)).rejects.toMatchObject({ code: 'REFUSED' });
  });

  it('ends when it is told to', async () => {
    using folder = new TestFolder();
    await expect(
      readProject(folder.path, { signal: AbortSignal.abort(new Error('enough')) }),
    ).rejects.toThrow('enough');
  });
});
