import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ProgressCounter } from '../../audit/progress-counter.ts';
import { scanSecurity } from '../../audit/security-scan.ts';
import { copyOfFixture, plantedIn, spotsOf, TemporaryFolder } from './fixture.ts';

const scan = (root: string) => scanSecurity(root, new ProgressCounter());

describe('ENCELADUS', () => {
  it('finds every secret and dangerous call that is planted, and no decoy', async () => {
    using repo = copyOfFixture('enceladus');
    const { findings, notes } = await scan(repo.path);
    expect(plantedIn(repo.path).length).toBeGreaterThan(25);
    expect(spotsOf(findings)).toEqual(plantedIn(repo.path));
    expect(notes).toEqual([]);
  });

  it('shows no more than four characters of a secret', async () => {
    using repo = copyOfFixture('enceladus');
    const { findings } = await scan(repo.path);
    const told = JSON.stringify(findings);
    const secrets = readFileSync(join(repo.path, 'config/production.env'), 'utf8').matchAll(
      /[A-Za-z0-9]{20,}/g,
    );
    for (const [secret] of secrets) expect(told).not.toContain(secret.slice(-12));
  });

  it('is one step less severe where code does not run in production', async () => {
    using repo = copyOfFixture('enceladus');
    const { findings } = await scan(repo.path);
    const severities = findings
      .filter(({ rule }) => rule === 'code.eval')
      .map(({ file, severity }) => [file, severity]);
    expect(Object.fromEntries(severities)).toEqual({ 'src/run.ts': 'high', 'test/helper.ts': 'medium' });
  });

  it('says that a folder is empty', async () => {
    using repo = new TemporaryFolder();
    expect(await scan(repo.path)).toEqual({
      findings: [],
      notes: [{ kind: 'empty', reason: 'there is no file to look at' }],
      filesSeen: 0,
      bytesSeen: 0,
    });
  });

  it('names what it leaves out: binary, large, linked, unparsable files, and what the repository asks it to', async () => {
    using repo = new TemporaryFolder();
    const at = (name: string): string => join(repo.path, name);
    writeFileSync(at('data.bin'), Buffer.from([1, 0, 2]));
    writeFileSync(at('large.txt'), 'x'.repeat(1024 * 1024 + 1));
    writeFileSync(at('broken.js'), 'eval(;');
    mkdirSync(at('folder'));
    symlinkSync('..', at('folder/loop'));
    mkdirSync(at('planted'));
    writeFileSync(at('planted/run.js'), 'eval(text);');
    writeFileSync(at('.auditignore'), 'planted/\n');
    mkdirSync(at('ignored'));
    writeFileSync(at('ignored/run.js'), 'eval(text);');
    writeFileSync(at('.gitignore'), 'ignored/\n');
    const { findings, notes } = await scan(repo.path);
    expect(findings).toEqual([]);
    expect(notes.map(({ kind, file }) => [kind, file]).sort()).toEqual([
      ['audit-ignore', 'planted'],
      ['binary', 'data.bin'],
      ['symlink', 'folder/loop'],
      ['too-large', 'large.txt'],
      ['unparsable', 'broken.js'],
    ]);
  });

  it('names what it may not read', async () => {
    using repo = new TemporaryFolder();
    const [file, folder] = [join(repo.path, 'secret.txt'), join(repo.path, 'closed')];
    writeFileSync(file, 'text');
    mkdirSync(folder);
    chmodSync(file, 0);
    chmodSync(folder, 0);
    const { notes } = await asOrdinaryUser(repo.path, () => scan(repo.path));
    expect(notes).toEqual([
      { kind: 'unreadable', file: 'closed/', reason: 'cannot be listed: EACCES' },
      { kind: 'unreadable', file: 'secret.txt', reason: 'cannot be read: EACCES' },
    ]);
  });
});

const NOBODY = 65_534;

/** root may read everything. */
async function asOrdinaryUser<Result>(folder: string, run: () => Promise<Result>): Promise<Result> {
  if (process.geteuid?.() !== 0) return run();
  chmodSync(folder, 0o755);
  process.seteuid?.(NOBODY);
  try {
    return await run();
  } finally {
    process.seteuid?.(0);
  }
}
