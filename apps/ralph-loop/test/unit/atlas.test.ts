import { mkdirSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findingId } from '../../audit/evidence.ts';
import type { Finding } from '../../audit/finding.ts';
import { applyDelta } from '../../audit/history/git/delta.ts';
import { GitRepository } from '../../audit/history/git/git-repository.ts';
import { MAX_OBJECT_BYTES } from '../../audit/history/git/object.ts';
import { briefHistory } from '../../audit/history/history-brief.ts';
import { type Change, readHistory } from '../../audit/history/read-history.ts';
import { MemoryRelief } from '../../audit/memory-relief.ts';
import { ProgressCounter } from '../../audit/progress-counter.ts';
import { verifyFindings } from '../../audit/verify-findings.ts';
import { spotsOf, TemporaryFolder } from './fixture.ts';
import { git, makeHistory, type PlannedCommit } from './git-history.ts';

const brief = (root: string) => briefHistory(root, new ProgressCounter());

const script = (number: number): string => `\n// A comment.\nexport const number = ${number};\n`;

/** Forty commits with habits, and with what only looks like one. */
function habitual(): PlannedCommit[] {
  const commits: PlannedCommit[] = [{ subject: 'Begin', files: { 'README.md': '# Shop\n' } }];
  for (let number = 1; number <= 40; number++) {
    const files: Record<string, string> = {
      'README.md': `# ${number}\n`,
      'package-lock.json': `{"n":${number}}`,
    };
    if (number % 3 === 0) files['src/hot.ts'] = script(number);
    if (number % 5 === 0) {
      files['src/left.ts'] = script(number);
      files['src/right.ts'] = script(number);
      files['test/left.test.ts'] = script(number);
    }
    if (number % 5 === 2) {
      files['src/importer.ts'] = `import './imported.ts';\n${script(number)}`;
      files['src/imported.ts'] = script(number);
    }
    if (number % 6 === 0) for (let one = 0; one < 31; one++) files[`src/many/${one}.ts`] = script(number);
    if (number % 7 === 0) files['src/fragile.ts'] = script(number);
    if (number % 2 === 0) files['src/gone.ts'] = script(number);
    commits.push({ subject: number % 7 === 0 ? 'fix: the price again' : `Work ${number}`, files });
  }
  return commits;
}

const PLANTED = [
  'history.change-together src/left.ts:2',
  'history.hot-spot src/hot.ts:2',
  'history.mended-again src/fragile.ts:2',
];

function habitualRepository(): TemporaryFolder {
  const repo = new TemporaryFolder();
  makeHistory(repo.path, habitual());
  git(repo.path, 'rm', '--quiet', 'src/gone.ts');
  return repo;
}

/** What git itself says that the last commits changed. */
function changesByGit(root: string): Change[] {
  const log = git(root, 'log', '--no-merges', '--no-renames', '--name-only', '--format=%x00%s', '-200');
  return log
    .split('\0')
    .slice(1, -1)
    .map((block) => {
      const [subject = '', , ...files] = block.split('\n');
      return { subject, files: files.filter((file) => file !== '').sort() };
    });
}

function changesByUs(root: string): Change[] {
  const opened = GitRepository.open(root);
  if ('fault' in opened) throw new Error(opened.fault);
  using repository = opened.repository;
  const { changes } = readHistory(repository, repository.head() ?? '', () => {});
  return changes.map(({ subject, files }) => ({ subject, files: [...files].sort() }));
}

/** A step of a delta: bytes of its own, or part of the base. */
type Step = { readonly added: Uint8Array } | { readonly from: number; readonly count: number };

const steps = (baseBytes: number): fc.Arbitrary<Step[]> => {
  const added = fc.uint8Array({ minLength: 1, maxLength: 127 }).map((bytes) => ({ added: bytes }));
  const copied = fc
    .tuple(fc.nat(baseBytes - 1), fc.constantFrom(1, 255, 256, 0xffff, 0x10000, 0x10001))
    .map(([from, count]) => ({ from, count: Math.min(count, baseBytes - from) }));
  return fc.array(fc.oneof(added, copied), { maxLength: 20, size: 'max' });
};

const sizeBytes = (size: number): number[] =>
  size < 128 ? [size] : [128 + (size % 128), ...sizeBytes(Math.floor(size / 128))];

/** Offset and count with only those bytes that are not zero; a count of 64 KiB is written as none. */
function copyBytes(from: number, count: number): number[] {
  const written = count === 0x10000 ? 0 : count;
  const offsets = [0, 1, 2, 3].map((index) => Math.floor(from / 256 ** index) % 256);
  const counts = [0, 1, 2].map((index) => Math.floor(written / 256 ** index) % 256);
  const present = [...offsets, ...counts].map((byte, index) => (byte === 0 ? 0 : 1 << index));
  return [
    128 + present.reduce((sum, bit) => sum + bit, 0),
    ...[...offsets, ...counts].filter((byte) => byte > 0),
  ];
}

describe('ATLAS', () => {
  it('applies every delta as it was meant, and no damaged one beyond its bounds', () => {
    const base = Buffer.from(Array.from({ length: 0x20000 }, (_, index) => (index * 7 + (index >> 8)) % 256));
    fc.assert(
      fc.property(steps(base.length), fc.nat(), fc.nat(255), (taken, at, byte) => {
        const parts = taken.map((step) =>
          'added' in step ? Buffer.from(step.added) : base.subarray(step.from, step.from + step.count),
        );
        const expected = Buffer.concat(parts);
        const written = taken.flatMap((step) =>
          'added' in step ? [step.added.length, ...step.added] : copyBytes(step.from, step.count),
        );
        const delta = Buffer.from([...sizeBytes(base.length), ...sizeBytes(expected.length), ...written]);
        expect(applyDelta(base, delta)?.equals(expected)).toBe(true);
        delta[at % delta.length] = byte;
        const damaged = applyDelta(base, delta);
        expect(damaged === undefined || damaged.length <= MAX_OBJECT_BYTES).toBe(true);
      }),
      { numRuns: 200 },
    );
  });

  it('tells of every habit that is planted, and of no decoy', async () => {
    using repo = habitualRepository();
    const { findings, notes } = await brief(repo.path);
    expect(spotsOf(findings)).toEqual(PLANTED);
    expect(findings.map(({ message }) => message).sort()).toEqual([
      '5 of its last 5 changes mend something',
      'Changed by 13 of the last 40 commits',
      'Changed together with src/right.ts 7 times, and neither imports the other',
    ]);
    expect(findings.every(({ severity }) => severity === 'info')).toBe(true);
    expect(notes).toEqual([]);
    using memory = new MemoryRelief();
    const { verdict } = await verifyFindings(repo.path, findings, {
      progress: new ProgressCounter(),
      memory,
    });
    expect(verdict).toBe('APPROVED');
    const [told] = findings as [Finding];
    const made = { ...told, message: 'Changed by 99 of the last 40 commits' };
    const { rejected } = await verifyFindings(repo.path, [{ ...made, id: findingId(made) }], {
      progress: new ProgressCounter(),
      memory,
    });
    expect(rejected[0]?.reason).toBe(`line 2 holds nothing of ${told.rule}`);
  });

  it('reads what git reads: loose, packed, merged, moved', () => {
    using repo = new TemporaryFolder();
    const lines = Array.from({ length: 500 }, (_, index) => `line ${index}`);
    const commits = Array.from({ length: 30 }, (_, index): PlannedCommit => {
      lines[index * 7] = `changed ${index}`;
      const files = {
        'a/b/long.txt': lines.join('\n'),
        [`a/${index % 4}/file.txt`]: `${index}`,
        ü: `${index}`,
      };
      return { subject: `Commit ${index}`, files, ...(index === 20 ? { merges: 10 } : {}) };
    });
    makeHistory(repo.path, commits);
    git(repo.path, 'mv', 'a/1', 'moved');
    git(repo.path, '-c', 'user.name=A', '-c', 'user.email=a@b', 'commit', '--quiet', '--message', 'Move');
    git(repo.path, 'config', 'core.quotePath', 'false');
    const expected = changesByGit(repo.path);
    expect(expected).toHaveLength(29);
    expect(changesByUs(repo.path)).toEqual(expected);
    git(repo.path, 'gc', '--quiet', '--aggressive');
    expect(changesByUs(repo.path)).toEqual(expected);
  });

  it('says the same of a repository that is packed, with packed references', async () => {
    using repo = habitualRepository();
    git(repo.path, 'gc', '--quiet', '--aggressive', '--prune=now');
    git(repo.path, 'pack-refs', '--all');
    expect(spotsOf((await brief(repo.path)).findings)).toEqual(PLANTED);
  });

  it('says that there is no history, that it is short, cut off, or elsewhere', async () => {
    using plain = new TemporaryFolder();
    expect((await brief(plain.path)).notes).toEqual([{ kind: 'no-history', reason: 'is no git repository' }]);
    git(plain.path, 'init', '--quiet');
    expect((await brief(plain.path)).notes).toEqual([
      { kind: 'no-history', reason: 'nothing is committed yet' },
    ]);

    using elsewhere = new TemporaryFolder();
    writeFileSync(join(elsewhere.path, '.git'), 'gitdir: ../other\n');
    expect((await brief(elsewhere.path)).notes).toMatchObject([
      { reason: 'its history is kept in another folder' },
    ]);

    using repo = habitualRepository();
    using copy = new TemporaryFolder();
    git(copy.path, 'clone', '--quiet', '--depth=5', `file://${repo.path}`, 'shallow');
    expect((await brief(join(copy.path, 'shallow'))).notes).toEqual([
      { kind: 'history-cut-off', reason: 'only 4 changes are in the repository' },
      { kind: 'little-history', reason: '4 changes are too few to learn from' },
    ]);
  });

  it('survives a pack that ends early', async () => {
    using repo = habitualRepository();
    git(repo.path, 'gc', '--quiet', '--prune=now');
    const folder = join(repo.path, '.git/objects/pack');
    const pack = readdirSync(folder).find((name) => name.endsWith('.pack')) ?? '';
    const { length } = readFileSync(join(folder, pack));
    truncateSync(join(folder, pack), Math.floor(length / 2));
    const { notes } = await brief(repo.path);
    expect(notes[0]).toMatchObject({ kind: 'history-cut-off' });
  });

  it('does not unpack what would fill the memory', () => {
    using repo = habitualRepository();
    const name = 'ab'.repeat(20);
    const bomb = deflateSync(Buffer.concat([Buffer.from('tree 67108864\0'), Buffer.alloc(64 * 1024 ** 2)]));
    const opened = GitRepository.open(repo.path);
    if ('fault' in opened) throw new Error(opened.fault);
    using repository = opened.repository;
    const folder = join(repo.path, '.git/objects', name.slice(0, 2));
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, name.slice(2)), bomb);
    expect(bomb.length).toBeLessThan(100_000);
    expect(repository.object(name)).toBeUndefined();
  });
});
