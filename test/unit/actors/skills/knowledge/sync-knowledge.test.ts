import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { KnowledgeSource } from '../../../../../actors/skills/knowledge/knowledge-source.ts';
import {
  type SyncOptions,
  type SyncState,
  syncKnowledge,
} from '../../../../../actors/skills/knowledge/sync-knowledge.ts';
import type { KnowledgeTable } from '../../../../../actors/skills/store/knowledge-tables.ts';
import type { SkillStore } from '../../../../../actors/skills/store/skill-store.ts';
import { GitRepository, TestFolder } from '../../../../fixtures/skills/git-repository.ts';
import { ADMIN, type OpenKnowledge, openKnowledge } from '../../../../fixtures/skills/knowledge.ts';

const COMMIT = /^[0-9a-f]{40}$/;

let knowledge: OpenKnowledge;
let folder: TestFolder;
let repository: GitRepository;
beforeEach(async () => {
  knowledge = await openKnowledge();
});
afterEach(() => knowledge.store.close());

const withFolder = (): void => {
  beforeEach(() => {
    folder = new TestFolder();
  });
  afterEach(() => folder[Symbol.dispose]());
};
const withRepository = (): void => {
  beforeEach(() => {
    repository = new GitRepository();
  });
  afterEach(() => repository[Symbol.dispose]());
};

const sourceOf = (path: string, fields: Partial<KnowledgeSource> = {}): KnowledgeSource =>
  KnowledgeSource.parse({ name: 'docs', path, tenant: 'acme', ...fields });

const sync = (
  source: KnowledgeSource,
  options: Partial<SyncOptions> = {},
  store: SkillStore = knowledge.store,
) => {
  const { signal = new AbortController().signal } = options;
  return syncKnowledge(store, source, { effect: async (_name, run) => run(signal), ...options, signal });
};

const file = (fields: Readonly<Record<string, string>> = {}, content = '') =>
  `---\n${Object.entries({ type: 'adr', title: 'Use SQLite', status: 'accepted', ...fields })
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n')}\n---\n${content}\n`;

const rows = (store: SkillStore = knowledge.store, tenant = 'acme'): Promise<KnowledgeTable[]> =>
  store.read(tenant, (queries) => queries.selectFrom('knowledge').selectAll().orderBy('id').execute());
const ids = async () => (await rows()).map(({ id }) => id);

describe.each([
  ['a folder', withFolder, () => folder, (): unknown => undefined],
  ['a git repository', withRepository, () => repository, () => repository.commit()],
] as const)('A sync of %s', (_name, prepare, place, commit) => {
  prepare();
  const put = (files: Readonly<Record<string, string | Uint8Array | null>>) => {
    place().put(files);
    commit();
  };
  const source = (fields: Partial<KnowledgeSource> = {}) => sourceOf(place().path, fields);

  it('adds what is new, changes what has changed, and removes what is gone', async () => {
    put({ 'a.md': file(), 'adr/b.md': file({ id: 'b' }), 'c.md': file({}, 'C') });
    expect(await sync(source())).toMatchObject({
      added: 3,
      changed: 0,
      removed: 0,
      unchanged: 0,
      faults: [],
    });
    put({ 'adr/b.md': file({ id: 'b', title: 'Else' }), 'c.md': null, 'd.md': file() });
    expect(await sync(source())).toMatchObject({
      added: 1,
      changed: 1,
      removed: 1,
      unchanged: 1,
      faultCount: 0,
    });
    expect(await ids()).toEqual(['a', 'b', 'd']);
    expect(await knowledge.items.find(ADMIN, 'b')).toMatchObject({ title: 'Else', version: 2 });
    expect(await knowledge.items.versions(ADMIN, 'b')).toMatchObject([{ version: 1, title: 'Use SQLite' }]);
  });

  it('leaves what has not changed untouched', async () => {
    put({ 'a.md': file(), 'b.md': file() });
    await sync(source());
    const before = await rows();
    expect(await sync(source())).toMatchObject({ added: 0, changed: 0, removed: 0, unchanged: 2 });
    expect(await rows()).toEqual(before);
  });

  it('gives files the layer and scope of their source, if they say none, also when that changes', async () => {
    put({ 'a.md': file(), 'b.md': file({ layer: 'company', scope: '""' }) });
    await sync(source({ layer: 'team', scope: 'web' }));
    expect(await rows()).toMatchObject([
      { layer: 2, scope: 'web' },
      { layer: 4, scope: '' },
    ]);
    await sync(source({ layer: 'org', scope: 'eu' }));
    expect(await rows()).toMatchObject([
      { layer: 3, scope: 'eu' },
      { layer: 4, scope: '' },
    ]);
  });

  it('says what is wrong with files, each time, and has no items of them', async () => {
    put({
      'bad.md': file({ type: 'memo' }),
      'large.md': file({}, 'x'.repeat(256 * 1024)),
      'latin.md': new Uint8Array([...Buffer.from(file()), 0xe9]),
      'readme.md': '# Read me',
      'right.md': file({}, 'x'.repeat(199_000)),
    });
    for (const added of [1, 0]) {
      const { faults, ...result } = await sync(source());
      expect(result).toMatchObject({ added, faultCount: 4 });
      expect(Object.fromEntries(faults.map((one) => [one.file, one.message]))).toEqual({
        'bad.md': expect.stringContaining('type is "memo"'),
        'large.md': expect.stringMatching(/^it has \d+ bytes, expected at most 262144$/),
        'latin.md': 'it is not in UTF-8',
        'readme.md': expect.stringContaining('does not begin with YAML'),
      });
    }
    expect(await ids()).toEqual(['right']);
    put({ 'right.md': file({ status: 'final' }) });
    expect(await sync(source())).toMatchObject({ removed: 1, faultCount: 5 });
    expect(await ids()).toEqual([]);
  });

  it('tells of a hundred faults, and how many there are', async () => {
    put(Object.fromEntries(Array.from({ length: 130 }, (_, at) => [`${at}.md`, 'x'])));
    const { faults, faultCount } = await sync(source());
    expect([faults.length, faultCount]).toEqual([100, 130]);
  });

  it('gives an id that several files have to the first path, however that came about', async () => {
    put({ 'b.md': file({ id: 'x', title: 'B' }) });
    await sync(source());
    put({ 'a.md': file({ id: 'x', title: 'A' }), 'c.md': file({ id: 'x', title: 'C' }) });
    expect((await sync(source())).faults).toEqual([
      { file: 'b.md', message: 'id is "x", which "a.md" has' },
      { file: 'c.md', message: 'id is "x", which "a.md" has' },
    ]);
    expect(await rows()).toMatchObject([{ id: 'x', title: 'A', path: 'a.md' }]);
    put({ 'a.md': null });
    await sync(source());
    expect(await rows()).toMatchObject([{ id: 'x', title: 'B', path: 'b.md' }]);
  });

  it('takes no id of an item that is not of the source, and removes none', async () => {
    await knowledge.add({ title: 'Said' });
    put({ 'k1.md': file({ title: 'Written' }), 'x.md': file() });
    const { faults, added } = await sync(source());
    expect(faults).toEqual([
      { file: 'k1.md', message: 'id is "k1", which an item has that is not of this source' },
    ]);
    expect(added).toBe(1);
    using others = new TestFolder();
    expect(await sync(sourceOf(others.put({ 'x.md': file() }).path, { name: 'other' }))).toMatchObject({
      added: 0,
      removed: 0,
      faultCount: 1,
    });
    expect(await rows()).toMatchObject([
      { id: 'k1', title: 'Said' },
      { id: 'x', source: 'docs' },
    ]);
    expect(await sync(sourceOf(place().path, { tenant: 'globex' }))).toMatchObject({
      added: 2,
      faultCount: 0,
    });
    expect(await ids()).toEqual(['k1', 'x']);
  });

  it('has items that are changed where their file is, and nowhere else', async () => {
    put({ 'adr/a.md': file() });
    await sync(source());
    for (const deed of [
      knowledge.items.remove(ADMIN, 'adr/a'),
      knowledge.items.setStatus(ADMIN, 'adr/a', 'deprecated'),
    ])
      await expect(deed).rejects.toMatchObject({
        code: 'REFUSED',
        message: 'The knowledge item "adr/a" is in the file "adr/a.md" of the source "docs": change it there',
      });
  });

  it('reads Markdown of the folder that is meant, and nothing hidden', async () => {
    put({
      'docs/a.md': file(),
      'docs/b.markdown': file(),
      'docs/c.txt': file(),
      'docs/.d.md': file(),
      'docs/.hidden/e.md': file(),
      'docs-2/f.md': file(),
      'g.md': file(),
    });
    await sync(source({ folder: 'docs' }));
    expect(await ids()).toEqual(['docs/a', 'docs/b']);
    await sync(source());
    expect(await ids()).toEqual(['docs-2/f', 'docs/a', 'docs/b', 'g']);
  });

  it('follows no symbolic link, within the source or out of it (F-09)', async () => {
    using outside = new TestFolder();
    outside.put({ 'secret.md': file({ title: 'Secret' }) });
    put({ 'real/a.md': file() });
    const { path } = place();
    symlinkSync(join(outside.path, 'secret.md'), join(path, 'link.md'));
    symlinkSync(outside.path, join(path, 'folder'));
    symlinkSync(join(path, 'real'), join(path, 'again'));
    symlinkSync(path, join(path, 'real', 'circle'));
    commit();
    expect(await sync(source())).toMatchObject({ added: 1, faultCount: 0 });
    expect(await ids()).toEqual(['real/a']);
  });

  it('takes any name of a file as a name', async () => {
    const names = [
      '$(touch hacked).md',
      '--help.md',
      '; rm -rf .md',
      'it\'s "quoted".md',
      'line\nend.md',
      'ä 😀.md',
      'a:b@{1}.md',
    ];
    put(Object.fromEntries(names.map((name, at) => [name, file({ id: `n${at}` })])));
    expect(await sync(source())).toMatchObject({ added: names.length, faultCount: 0 });
    expect((await rows()).map(({ path }) => path)).toEqual(names);
    if (place() === repository)
      expect((await rows()).map(({ commit_hash: hash }) => hash)).toEqual(
        names.map(() => repository.git('rev-parse', 'HEAD')),
      );
  });

  it('marks what people have written who are not trusted', async () => {
    put({ 'a.md': file() });
    await sync(source({ isOutside: true }));
    expect(await knowledge.items.find(ADMIN, 'a')).toMatchObject({ taint: ['knowledge:docs'] });
    await sync(source());
    expect(await knowledge.items.find(ADMIN, 'a')).toMatchObject({ taint: undefined });
  });

  it('ends with the signal, and keeps the batches that were written', async () => {
    put(Object.fromEntries(Array.from({ length: 250 }, (_, at) => [`${at}.md`, file()])));
    const stop = new AbortController();
    const states: SyncState[] = [];
    const onBatch = (state: SyncState, total: number) => {
      expect(total).toBe(250);
      states.push(state);
      stop.abort(new Error('enough'));
    };
    await expect(sync(source(), { signal: stop.signal, onBatch })).rejects.toThrow('enough');
    expect(states).toEqual([{ source: 'docs', done: 100, added: 100, changed: 0, removed: 0 }]);
    expect(await rows()).toHaveLength(100);
    const done: number[] = [];
    const again = await sync(source(), { state: states[0], onBatch: (state) => done.push(state.done) });
    expect(again).toMatchObject({ added: 250, changed: 0, removed: 0, unchanged: 0 });
    expect(done).toEqual([100, 200, 250]);
    await expect(sync(source(), { signal: stop.signal })).rejects.toThrow('enough');
  });

  it('writes a batch whole or not at all', async () => {
    put(Object.fromEntries(Array.from({ length: 150 }, (_, at) => [`${at}.md`, file()])));
    await expect(sync(source(), {}, breaking(knowledge.store, 2))).rejects.toThrow('cut off');
    expect(await rows()).toHaveLength(100);
    await sync(source());
    expect(await rows()).toHaveLength(150);
  });

  it('ends the same after any edits and syncs that were cut off as one sync of the last files', async () => {
    const edit = fc.record({
      path: fc.constantFrom('a.md', 'b.md', 'c/d.md', 'e.md'),
      text: fc.oneof(
        {
          weight: 5,
          arbitrary: fc
            .record({ id: fc.constantFrom('a', 'x', 'y'), title: fc.constantFrom('1', '2') })
            .map((fields) => file({ ...fields, title: `T${fields.title}` })),
        },
        { weight: 1, arbitrary: fc.constant('broken') },
        { weight: 2, arbitrary: fc.constant(null) },
      ),
    });
    const step = fc.record({
      edits: fc.array(edit, { maxLength: 4 }),
      cutAt: fc.option(fc.integer({ min: 1, max: 4 })),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 5 }), async (steps) => {
        const fresh = await openKnowledge();
        const kept = await openKnowledge();
        using dir = place() === repository ? new GitRepository() : new TestFolder();
        try {
          const from = sourceOf(dir.path);
          if (dir instanceof GitRepository) dir.commit();
          for (const { edits, cutAt } of steps) {
            dir.put(Object.fromEntries(edits.map(({ path, text }) => [path, text])));
            if (dir instanceof GitRepository) dir.commit();
            const store = cutAt === null ? kept.store : breaking(kept.store, cutAt);
            await sync(from, { batch: 1 }, store).catch((error: Error) =>
              expect(error.message).toBe('cut off'),
            );
          }
          const [{ faults }, once] = [
            await sync(from, { batch: 1 }, kept.store),
            await sync(from, {}, fresh.store),
          ];
          expect(faults).toEqual(once.faults);
          expect((await rows(kept.store)).map(said)).toEqual((await rows(fresh.store)).map(said));
        } finally {
          await kept.store.close();
          await fresh.store.close();
        }
      }),
      { numRuns: place() === repository ? 6 : 60 },
    );
  });
});

/** A row but for when it was kept, and how often it was changed. */
const said = ({ revision, version, created_at, updated_at, commit_hash, author, ...row }: KnowledgeTable) =>
  row;

/** A store of which the nth write is cut off before it is kept. */
function breaking(store: SkillStore, cutAt: number): SkillStore {
  let writes = 0;
  return {
    ...store,
    write: (tenant, run) =>
      store.write(tenant, async (queries) => {
        writes += 1;
        const result = await run(queries);
        if (writes === cutAt) throw new Error('cut off');
        return result;
      }),
  };
}

describe('A sync of a folder that is not as it should be', () => {
  withFolder();

  it('fails where there is none', async () => {
    await expect(sync(sourceOf(join(folder.path, 'none')))).rejects.toMatchObject({
      code: 'INVALID_OPTIONS',
      message: expect.stringContaining('the path of the source "docs"'),
    });
  });

  it('reads no pipe, and says which file it may not read', async () => {
    folder.put({ 'a.md': file(), 'b.md': file() });
    execFileSync('mkfifo', [join(folder.path, 'pipe.md')]);
    chmodSync(join(folder.path, 'b.md'), 0);
    const isRoot = process.getuid?.() === 0;
    expect((await sync(sourceOf(folder.path))).faults).toEqual(
      isRoot ? [] : [{ file: 'b.md', message: 'it cannot be read: EACCES' }],
    );
  });

  it('may be named by a link, and by a path with a slash at its end', async () => {
    folder.put({ 'docs/a.md': file() });
    symlinkSync(join(folder.path, 'docs'), join(folder.path, 'link'));
    await sync(sourceOf(`${join(folder.path, 'link')}/`));
    expect(await ids()).toEqual(['a']);
  });
});

describe('A sync of a git repository', () => {
  withRepository();

  it('knows the commit, the author and the date of the last change of each file', async () => {
    const first = repository.commit({ 'a.md': file(), 'b.md': file() });
    const second = repository.commit({ 'b.md': file({ title: 'B' }) }, 'Grace');
    expect(await sync(sourceOf(repository.path))).toMatchObject({ commit: second });
    const dates = [GitRepository.dateOf(1), GitRepository.dateOf(2)];
    expect(await rows()).toMatchObject([
      { id: 'a', commit_hash: first, author: 'Ada', updated_at: dates[0], created_at: dates[0] },
      { id: 'b', commit_hash: second, author: 'Grace', updated_at: dates[1] },
    ]);
    const third = repository.commit({ 'a.md': file({ title: 'A' }) });
    await sync(sourceOf(repository.path));
    expect(await knowledge.items.find(ADMIN, 'a')).toMatchObject({
      origin: { commit: third },
      createdAtMs: dates[0],
    });
    expect(await knowledge.items.versions(ADMIN, 'a')).toMatchObject([{ commit: first, author: 'Ada' }]);
  });

  it('finds the last change behind merges, and in them', async () => {
    repository.commit({ 'a.md': file(), 'b.md': file() });
    repository.git('checkout', '-q', '-b', 'side');
    const side = repository.commit({ 'a.md': file({ title: 'Side' }) }, 'Grace');
    repository.git('checkout', '-q', 'main');
    const main = repository.commit({ 'b.md': file({ title: 'Main' }) });
    repository.git('merge', '-q', '--no-ff', '--no-commit', 'side');
    const merge = repository.commit({ 'c.md': file() });
    await sync(sourceOf(repository.path));
    expect((await rows()).map((row) => row.commit_hash)).toEqual([side, main, merge]);
  });

  it('reads what is committed at the ref, not what lies beside it', async () => {
    repository.commit({ 'a.md': file({ title: 'One' }) });
    repository.git('tag', 'v1');
    repository.commit({ 'a.md': file({ title: 'Two' }) });
    repository.put({ 'a.md': file({ title: 'Three' }), 'b.md': file() });
    await sync(sourceOf(repository.path));
    expect(await rows()).toMatchObject([{ id: 'a', title: 'Two' }]);
    await sync(sourceOf(repository.path, { ref: 'v1' }));
    expect(await rows()).toMatchObject([{ id: 'a', title: 'One' }]);
  });

  it('reads a repository without files beside it', async () => {
    const commit = repository.commit({ 'a.md': file() });
    repository.git('clone', '-q', '--bare', '.', 'bare.git');
    expect(await sync(sourceOf(join(repository.path, 'bare.git')))).toMatchObject({ added: 1, commit });
  });

  it.each(['nowhere', 'HEAD:a.md', 'main..main', ':/A'])(
    'refuses a ref that is no commit: %s',
    async (ref) => {
      repository.commit({ 'a.md': file() });
      await expect(sync(sourceOf(repository.path, { ref }))).rejects.toMatchObject({
        code: 'INVALID_OPTIONS',
        message: expect.stringContaining('the ref of the source "docs"'),
      });
    },
  );

  it('says so when a repository has no commit', async () => {
    await expect(sync(sourceOf(repository.path))).rejects.toMatchObject({ code: 'INVALID_OPTIONS' });
  });

  it('runs no program that the repository names', async () => {
    repository.commit({ 'a.md': file(), '.gitattributes': '*.md diff=evil filter=evil' });
    repository.git('update-ref', 'HEAD', signed(repository));
    const evil = join(repository.path, 'evil.sh');
    const mark = join(repository.path, 'hacked');
    writeFileSync(evil, `#!/bin/sh\ntouch '${mark}'\ncat\n`);
    chmodSync(evil, 0o755);
    for (const [name, value] of Object.entries({
      'core.fsmonitor': evil,
      'core.pager': evil,
      'core.sshCommand': evil,
      'core.editor': evil,
      'core.askPass': evil,
      'diff.external': evil,
      'diff.evil.textconv': evil,
      'diff.evil.command': evil,
      'filter.evil.smudge': evil,
      'gpg.program': evil,
      'log.showSignature': 'true',
      'pager.log': evil,
      'pager.ls-tree': evil,
      'alias.log': `!${evil}`,
      'alias.rev-parse': `!${evil}`,
    }))
      repository.git('config', name, value);
    mkdirSync(join(repository.path, '.git', 'hooks'), { recursive: true });
    for (const hook of ['post-index-change', 'reference-transaction', 'fsmonitor-watchman']) {
      writeFileSync(join(repository.path, '.git', 'hooks', hook), `#!/bin/sh\ntouch '${mark}'\n`, {
        mode: 0o755,
      });
    }
    await sync(sourceOf(repository.path));
    expect(execFileSync('ls', [repository.path], { encoding: 'utf8' })).not.toContain('hacked');
    expect(await ids()).toEqual(['a']);
  });

  it('fetches nothing that a clone lacks, and fails without having removed anything', async () => {
    repository.commit({ 'a.md': file() });
    await sync(sourceOf(repository.path));
    const mark = join(repository.path, 'hacked');
    repository.commit({ 'b.md': file({ title: 'Lacking' }) });
    const blob = repository.git('rev-parse', 'HEAD:b.md');
    repository.git('config', 'core.repositoryFormatVersion', '1');
    repository.git('config', 'extensions.partialClone', 'origin');
    repository.git('config', 'remote.origin.url', `ext::sh -c touch% ${mark}`);
    repository.git('config', 'remote.origin.promisor', 'true');
    repository.git('config', 'protocol.ext.allow', 'always');
    execFileSync('rm', ['-f', join(repository.path, '.git', 'objects', blob.slice(0, 2), blob.slice(2))]);
    await expect(sync(sourceOf(repository.path))).rejects.toMatchObject({ code: 'REFUSED' });
    expect(execFileSync('ls', [repository.path], { encoding: 'utf8' })).not.toContain('hacked');
    expect(await ids()).toEqual(['a']);
  });

  it('names a commit even where the history is cut off', async () => {
    repository.commit({ 'a.md': file() });
    repository.commit({ 'b.md': file() });
    repository.git('clone', '-q', '--depth', '1', `file://${repository.path}`, 'shallow');
    await sync(sourceOf(join(repository.path, 'shallow')));
    expect((await rows()).map((row) => row.commit_hash)).toEqual([
      expect.stringMatching(COMMIT),
      expect.stringMatching(COMMIT),
    ]);
  });
});

/** A commit with a signature, for which git runs the program that checks it. */
function signed(repository: GitRepository): string {
  const commit = repository
    .git('cat-file', 'commit', 'HEAD')
    .replace('\n\n', '\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\n');
  return execFileSync('git', ['hash-object', '-t', 'commit', '-w', '--stdin'], {
    cwd: repository.path,
    input: `${commit}\n`,
    encoding: 'utf8',
  }).trim();
}

describe('A source of knowledge', () => {
  it.each([
    ['folder', '../etc'],
    ['folder', 'docs/../..'],
    ['folder', '/etc'],
    ['folder', ''],
    ['ref', '--upload-pack=evil'],
    ['ref', 'a b'],
    ['name', '../x'],
    ['scope', ' x'],
  ])('has no %s "%s"', (field, value) => {
    expect(() => sourceOf('/docs', { [field]: value })).toThrow(field);
  });
});
