import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AuditReport } from '../../findings/finding.ts';
import { auditDocs } from '../../audit/docs/audit-docs.ts';
import { scanFiles } from '../../audit/file-scan.ts';
import { briefHistory } from '../../audit/history/history-brief.ts';
import { collectIdeas } from '../../audit/ideas/collect-ideas.ts';
import { auditPerformance } from '../../audit/performance/audit-performance.ts';
import { ProgressCounter } from '../../audit/progress-counter.ts';
import { RELEASE_CHECK } from '../../audit/release/release-check.ts';
import { RESILIENCE_CHECK } from '../../audit/resilience/resilience-check.ts';
import { TemporaryFolder } from './fixture.ts';

type Job = (root: string, progress: ProgressCounter) => Promise<AuditReport>;

/** Each job, and the name of a file that it would read. */
const JOBS: readonly (readonly [planet: string, job: Job, file: string])[] = [
  ['mimas', (root, progress) => scanFiles(root, RESILIENCE_CHECK, progress), 'file.ts'],
  ['io', auditPerformance, 'file.ts'],
  ['triton', (root, progress) => scanFiles(root, RELEASE_CHECK, progress), 'file.dockerfile'],
  ['callisto', auditDocs, 'file.md'],
  ['andromeda', collectIdeas, 'file.ts'],
];

const MiB = 1024 ** 2;

/** Deep, long and broken, but text. */
const TEXTS: Readonly<Record<string, string>> = {
  'broken.ts': 'for (;;) { try { await',
  'brackets.ts': `// TODO: less\nawait f(${'['.repeat(50_000)}`,
  'chain.js': `JSON.parse(${'a=>'.repeat(50_000)}a)`,
  'members.js': `fs.readFileSync${'.a'.repeat(100_000)}`,
  'blocks.ts': `catch ${'{'.repeat(900)}${'}'.repeat(900)}`,
  'comment.ts': `/* ${'TODO: '.repeat(100_000)}`,
  'comments.ts': '// if (a) {\n'.repeat(20_000),
  'patterns.js': `export const all = [${"/(a+)+;/, new RegExp('(b*)*'), ".repeat(300)}];`,
  'line.md': '['.repeat(100_000),
  'rows.md': '| [a](b.md) |'.repeat(5_000),
  'fence.md': `\`\`\`json\n${'{"a":'.repeat(50_000)}`,
  'file.dockerfile': `FROM node\n${'RUN a \\\n'.repeat(50_000)}`,
  'run.sh': `${'# TODO\n'.repeat(20_000)}`,
};

let repo: TemporaryFolder;

beforeAll(() => {
  repo = new TemporaryFolder();
  const at = (name: string): string => join(repo.path, name);
  for (const [name, text] of Object.entries(TEXTS)) writeFileSync(at(name), text);
  mkdirSync(at('folder/inner'), { recursive: true });
  symlinkSync('../..', at('folder/inner/loop'));
  symlinkSync('/etc/passwd', at('passwd.md'));
  mkdirSync(at('.github/workflows'), { recursive: true });
  writeFileSync(at('.github/workflows/a.yml'), `jobs: ${'{a: '.repeat(20_000)}`);
  writeFileSync(at('package.json'), `{"a": ${'['.repeat(100_000)}`);
  for (const ending of ['ts', 'md', 'dockerfile', 'yml', 'sql']) {
    writeFileSync(at(`binary.${ending}`), Buffer.from([1, 0, 2]));
    writeFileSync(at(`sparse.${ending}`), 'text');
    truncateSync(at(`sparse.${ending}`), 4 * MiB);
    writeFileSync(at(`empty.${ending}`), '');
  }
});
afterAll(() => repo[Symbol.dispose]());

describe.each(JOBS)('the job of %s', (planet, job, file) => {
  it('comes to its end with a repository that nobody wrote by hand, and notes what it left out', async () => {
    const progress = new ProgressCounter();
    const { notes, filesSeen } = await job(repo.path, progress);
    expect(filesSeen).toBeGreaterThan(0);
    expect(progress.fraction).toBe(1);
    const kinds = new Set(notes.map(({ kind }) => kind));
    expect([...kinds]).toEqual(expect.arrayContaining(['symlink', 'unparsable', 'binary', 'too-large']));
    expect(notes.every(({ reason }) => reason.length < 300)).toBe(true);
  });

  it('says that there is nothing to look at', async () => {
    using empty = new TemporaryFolder();
    const { findings, notes } = await job(empty.path, new ProgressCounter());
    expect(findings).toEqual([]);
    expect(notes[0]).toMatchObject({ kind: 'empty' });
  });

  it('finds nothing in an empty file', async () => {
    using folder = new TemporaryFolder();
    writeFileSync(join(folder.path, file), '');
    const { findings, filesSeen } = await job(folder.path, new ProgressCounter());
    expect([planet, findings, filesSeen]).toEqual([planet, [], 1]);
  });
});

describe('the job of atlas', () => {
  it('comes to its end with a folder that only looks like a history', async () => {
    using folder = new TemporaryFolder();
    const at = (name: string): string => join(folder.path, '.git', name);
    mkdirSync(at('objects/pack'), { recursive: true });
    const name = 'a'.repeat(40);
    writeFileSync(at('HEAD'), name);
    writeFileSync(at('packed-refs'), `${name} refs/heads/main\n`);
    for (const ending of ['idx', 'pack']) writeFileSync(at(`objects/pack/pack-${name}.${ending}`), 'no pack');
    symlinkSync('/dev/zero', at(`objects/pack/pack-${'b'.repeat(40)}.idx`));
    mkdirSync(at('objects/aa'));
    writeFileSync(at(`objects/aa/${'a'.repeat(38)}`), 'no object');
    expect((await briefHistory(folder.path, new ProgressCounter())).notes).toMatchObject([
      { kind: 'history-cut-off' },
      { kind: 'little-history' },
    ]);
    writeFileSync(at('HEAD'), 'ref: refs/../../../../etc/passwd\n');
    expect((await briefHistory(folder.path, new ProgressCounter())).notes).toMatchObject([
      { kind: 'no-history' },
    ]);
  });
});
