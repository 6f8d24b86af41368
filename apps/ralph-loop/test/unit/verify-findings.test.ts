import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { evidenceAt, findingId, sha256 } from '../../findings/evidence.ts';
import type { Finding } from '../../findings/finding.ts';
import { SourceText } from '../../findings/source-text.ts';
import { verifyFindings } from '../../findings/verify-findings.ts';
import { TemporaryFolder } from './temporary-folder.ts';

const CART = [
  'import { items } from "./items.js";',
  '',
  '  const token = "ghp_0123456789"; use(token);',
  'eval(items);',
  '',
].join('\n');

/** The finding with its id mended, so that only what is planted is wrong with it. */
const signed = (finding: Finding): Finding => ({ ...finding, id: findingId(finding) });

function findingAt(line: number, over: Partial<Finding> = {}, secrets: readonly string[] = []): Finding {
  const source = new SourceText('src/cart.js', CART);
  const masks = secrets.map((secret) => ({
    start: CART.indexOf(secret),
    end: CART.indexOf(secret) + secret.length,
  }));
  return signed({
    id: '-',
    rule: 'lint/no-eval',
    severity: 'high',
    file: 'src/cart.js',
    line,
    message: 'Text is run as code.',
    evidence: evidenceAt(source, line, masks),
    lineSha256: sha256(source.line(line) ?? ''),
    agent: 'enceladus',
    ...over,
  });
}

function repository(): TemporaryFolder {
  const folder = new TemporaryFolder();
  mkdirSync(join(folder.path, 'src'));
  writeFileSync(join(folder.path, 'src/cart.js'), CART);
  writeFileSync(join(folder.path, 'src/data.bin'), Buffer.from([1, 0, 2]));
  return folder;
}

async function reasonAgainst(finding: Finding): Promise<string | undefined> {
  using repo = repository();
  return (await verifyFindings(repo.path, [finding])).rejected[0]?.reason;
}

describe('findings against the files', () => {
  it('stand where they say what is there, on a blank line too', async () => {
    using repo = repository();
    const findings = [findingAt(1), findingAt(2), findingAt(4, { column: 12 })];
    const told: number[] = [];
    const verification = await verifyFindings(repo.path, findings, { onProgress: (done) => told.push(done) });
    expect(verification).toEqual({ verdict: 'APPROVED', approved: findings, rejected: [], feedback: '' });
    expect(told).toEqual([3]);
  });

  it('are approved when there are none', async () => {
    using repo = repository();
    expect(await verifyFindings(repo.path, [])).toMatchObject({ verdict: 'APPROVED', approved: [] });
  });

  it('keep what holds beside what does not, and say what is wrong with that', async () => {
    using repo = repository();
    const [good, wrong] = [findingAt(4), findingAt(4, { line: 999 })];
    expect(await verifyFindings(repo.path, [good, wrong])).toEqual({
      verdict: 'NEEDS REVISION',
      approved: [good],
      rejected: [{ finding: wrong, reason: 'its file has no line 999' }],
      feedback: '1 of the findings does not hold. src/cart.js:999 (lint/no-eval): its file has no line 999',
    });
    expect(await verifyFindings(repo.path, [wrong])).toMatchObject({ verdict: 'REJECTED', approved: [] });
  });

  it('may show a line with its secrets masked', async () => {
    const masked = findingAt(3, {}, ['ghp_0123456789']);
    expect(masked.evidence).toBe('const token = "ghp_****"; use(token);');
    expect(await reasonAgainst(masked)).toBeUndefined();
  });

  it.each([
    ['in another order', 'use(token); "ghp_****const token'],
    ['with other words around the mask', 'const token = "ghp_****"; drop(token);'],
    ['from another beginning', 'token = "ghp_****"; use(token);'],
    ['masked, with more than the line has', 'const token = "ghp_0123456789"; use(token);****use(token);'],
  ])('do not show a masked line %s', async (_, evidence) => {
    expect(await reasonAgainst(findingAt(3, { evidence }))).toBe('line 3 does not read like its evidence');
  });

  it.each<[title: string, over: Partial<Finding>, reason: string]>([
    ['at another line', { line: 1 }, 'line 1 is not the line that was hashed'],
    ['past the end of the line', { column: 500 }, 'line 4 has no column 500'],
    ['in a file that is not there', { file: 'src/no.js' }, 'its file does not exist'],
    ['below a file', { file: 'src/cart.js/x' }, 'its file does not exist'],
    ['in a folder', { file: 'src' }, 'its file is not a regular file'],
    ['in a binary file', { file: 'src/data.bin' }, 'its file is binary'],
    ['outside', { file: '../cart.js' }, 'its file is not a path inside the repository'],
    ['outside, in between', { file: 'src/../../x.js' }, 'its file is not a path inside the repository'],
    ['by an absolute path', { file: '/etc/passwd' }, 'its file is not a path inside the repository'],
    ['whose evidence is made up', { evidence: 'eval(x)' }, 'line 4 does not read like its evidence'],
    ['whose hash is made up', { lineSha256: '0'.repeat(64) }, 'line 4 is not the line that was hashed'],
  ])('are refused %s', async (_, over, reason) => {
    expect(await reasonAgainst(findingAt(4, over))).toBe(reason);
  });

  it('are refused when their id is not that of their words', async () => {
    const finding = { ...findingAt(4), message: 'Other words.' };
    expect(await reasonAgainst(finding)).toBe('its id is not that of what it says');
  });

  it.each(['linked.js', 'linked/cart.js'])(
    'are refused in %s, which leads out through a symbolic link',
    async (file) => {
      using repo = repository();
      using outside = repository();
      const target = file === 'linked.js' ? 'src/cart.js' : 'src';
      symlinkSync(join(outside.path, target), join(repo.path, file.split('/')[0] ?? ''));
      const { rejected } = await verifyFindings(repo.path, [findingAt(4, { file })]);
      expect(rejected[0]?.reason).toBe('its file leads out of the repository');
    },
  );

  it('are refused through a link inside the repository', async () => {
    using repo = repository();
    symlinkSync(join(repo.path, 'src/cart.js'), join(repo.path, 'linked.js'));
    const { rejected } = await verifyFindings(repo.path, [findingAt(4, { file: 'linked.js' })]);
    expect(rejected[0]?.reason).toBe('its file cannot be read: ELOOP');
  });
});
