import { evidenceAt, sha256 } from '../evidence.ts';
import type { Finding } from '../finding.ts';
import { findSecrets } from '../secrets.ts';
import { scanSource } from '../security-scan.ts';
import type { SourceText } from '../source-text.ts';

/** What is wrong with a finding, if anything. */
export type Check = (finding: Finding) => string | undefined;

/** Checks findings against the lines of the file they name, which is looked through once for all of them. */
export async function lineCheck(source: SourceText, findings: readonly Finding[]): Promise<Check> {
  const secrets = await findSecrets(source);
  const isScanned = findings.some(({ agent }) => agent === 'enceladus');
  const scanned = new Set(isScanned ? (await scanSource(source)).findings.map(({ id }) => id) : []);
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
    if (finding.agent === 'enceladus' && !scanned.has(finding.id))
      return `line ${line} holds nothing of ${rule}`;
    return undefined;
  };
}
