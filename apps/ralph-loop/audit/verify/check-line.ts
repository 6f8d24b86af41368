import { evidenceAt, findingsOf, sha256 } from '../evidence.ts';
import { scanFile } from '../file-scan.ts';
import { fileScanFor } from '../file-scans.ts';
import type { Finding } from '../finding.ts';
import { findSecrets } from '../secrets.ts';
import { scanSource } from '../security-scan.ts';
import type { SourceText } from '../source-text.ts';

/** What is wrong with a finding, if anything. */
export type Check = (finding: Finding) => string | undefined;

/** Checks findings against the lines of the file they name, which is looked through once for all. `root` is a real path. */
export async function lineCheck(
  root: string,
  source: SourceText,
  findings: readonly Finding[],
): Promise<Check> {
  const secrets = await findSecrets(source);
  const found = await foundAgain(root, source, findings);
  return (finding) => {
    const { line, column = 1, rule } = finding;
    const text = source.line(line);
    if (text === undefined) return `its file has no line ${line}`;
    if (text.trim() === '') return `line ${line} is blank`;
    if (column > text.length + 1) return `line ${line} has no column ${column}`;
    if (sha256(text) !== finding.lineSha256) return `line ${line} is not the line that was hashed`;
    if (evidenceAt(source, line, secrets) !== finding.evidence)
      return `line ${line} does not read like its evidence`;
    // Unlike a compiler's error, these can be looked for again in the one file.
    const isLookedFor = finding.agent === 'enceladus' || fileScanFor(rule) !== undefined;
    return isLookedFor && !found.has(finding.id) ? `line ${line} holds nothing of ${rule}` : undefined;
  };
}

/** The ids of what the scans behind `findings` find in the file now. */
async function foundAgain(
  root: string,
  source: SourceText,
  findings: readonly Finding[],
): Promise<ReadonlySet<string>> {
  const found: Finding[] = [];
  if (findings.some(({ agent }) => agent === 'enceladus')) found.push(...(await scanSource(source)).findings);
  const scans = new Set(findings.map(({ rule }) => fileScanFor(rule)).filter((scan) => scan !== undefined));
  for (const scan of scans) {
    if (!scan.takes(source.file)) continue;
    found.push(...(await findingsOf(source, (await scanFile(scan, source, root)).defects)));
  }
  return new Set(found.map(({ id }) => id));
}
