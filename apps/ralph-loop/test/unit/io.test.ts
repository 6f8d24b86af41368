import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findingId } from '../../audit/evidence.ts';
import type { Finding } from '../../audit/finding.ts';
import { MemoryRelief } from '../../audit/memory-relief.ts';
import { auditPerformance } from '../../audit/performance/audit-performance.ts';
import { ProgressCounter } from '../../audit/progress-counter.ts';
import { verifyFindings } from '../../audit/verify-findings.ts';
import { fixturePath, plantedIn, spotsOf, TemporaryFolder } from './fixture.ts';

const audit = (root: string) => auditPerformance(root, new ProgressCounter());

const MiB = 1024 ** 2;

function makeFile(root: string, file: string, bytes: number): void {
  writeFileSync(join(root, file), '');
  truncateSync(join(root, file), bytes);
}

describe('IO', () => {
  it('finds everything that is planted, and no decoy', async () => {
    const root = fixturePath('io');
    const { findings, notes } = await audit(root);
    expect(plantedIn(root).length).toBeGreaterThan(20);
    expect(spotsOf(findings)).toEqual(plantedIn(root));
    expect(notes).toEqual([]);
  });

  it('finds files of more than 5 MiB by their size alone, but what git ignores or git-lfs keeps', async () => {
    using repo = new TemporaryFolder();
    mkdirSync(join(repo.path, 'media'));
    mkdirSync(join(repo.path, 'out'));
    makeFile(repo.path, 'video.mp4', 5 * MiB + 1);
    makeFile(repo.path, 'limit.bin', 5 * MiB);
    makeFile(repo.path, 'media/scan.psd', 6 * MiB);
    makeFile(repo.path, 'out/bundle.js', 6 * MiB);
    writeFileSync(join(repo.path, '.gitattributes'), '*.psd filter=lfs diff=lfs merge=lfs -text\n');
    writeFileSync(join(repo.path, '.gitignore'), 'out/\n');
    const { findings } = await audit(repo.path);
    expect(findings).toMatchObject([
      {
        rule: 'performance.large-file',
        severity: 'low',
        file: 'video.mp4',
        line: 1,
        evidence: '5242881 bytes',
        agent: 'io',
      },
    ]);
  });

  describe('has its findings about sizes checked by MERCURY', () => {
    const reasonAgainst = async (root: string, finding: Finding): Promise<string | undefined> => {
      using memory = new MemoryRelief();
      const { rejected } = await verifyFindings(root, [finding], { progress: new ProgressCounter(), memory });
      return rejected[0]?.reason;
    };
    const signed = (finding: Finding): Finding => ({ ...finding, id: findingId(finding) });

    it('who approves what is so, and refuses what is not', async () => {
      using repo = new TemporaryFolder();
      makeFile(repo.path, 'video.mp4', 6 * MiB);
      const [finding] = (await audit(repo.path)).findings as [Finding];
      expect(await reasonAgainst(repo.path, finding)).toBeUndefined();
      const otherwise = 'its file has 6291456 bytes, and the finding says otherwise';
      expect(await reasonAgainst(repo.path, { ...finding, evidence: '1 bytes' })).toBe(otherwise);
      expect(await reasonAgainst(repo.path, { ...finding, lineSha256: '0'.repeat(64) })).toBe(otherwise);
      expect(await reasonAgainst(repo.path, signed({ ...finding, message: 'Large' }))).toBe(otherwise);
      expect(await reasonAgainst(repo.path, signed({ ...finding, line: 2 }))).toBe(otherwise);
      expect(await reasonAgainst(repo.path, signed({ ...finding, file: 'gone.mp4' }))).toBe(
        'its file does not exist',
      );
      symlinkSync('video.mp4', join(repo.path, 'link.mp4'));
      expect(await reasonAgainst(repo.path, signed({ ...finding, file: 'link.mp4' }))).toBe(
        'its file is not a regular file',
      );
      makeFile(repo.path, 'video.mp4', MiB);
      expect(await reasonAgainst(repo.path, finding)).toBe('its file has 1048576 bytes');
    });
  });
});
