import { findingId, isEvidenceOf, sha256 } from './evidence.ts';
import type { Finding } from './finding.ts';
import { readWithin } from './read-within.ts';
import type { SourceText } from './source-text.ts';
import type { Verification } from './verification.ts';

export interface VerifyFindingsOptions {
  /** Called after each file with the number of findings checked. */
  readonly onProgress?: (done: number) => void;
  readonly signal?: AbortSignal;
  /** Called from time to time so that other work gets a turn. @default a turn of the event loop */
  readonly pause?: () => Promise<unknown>;
}

/** Files between two pauses: they are read synchronously. */
const FILES_A_TURN = 20;

const turn = (): Promise<unknown> => new Promise(setImmediate);

/**
 * Verifies findings against the files as they are now. `root` is a real path.
 *
 * A finding holds if its id matches its fields, its file is inside the root and no link, and its line has the hash and the
 * evidence. Whether the rule is right is not checked; that is up to the tool.
 */
export async function verifyFindings(
  root: string,
  findings: readonly Finding[],
  { onProgress, signal, pause = turn }: VerifyFindingsOptions = {},
): Promise<Verification> {
  const reasons = new Map<Finding, string>();
  let done = 0;
  let files = 0;
  for (const [file, ofFile] of Map.groupBy(findings, (finding) => finding.file)) {
    signal?.throwIfAborted();
    const read = readWithin(root, file);
    for (const finding of ofFile) {
      const reason = 'fault' in read ? read.fault : findingFault(read.source, finding);
      if (reason !== undefined) reasons.set(finding, reason);
    }
    done += ofFile.length;
    onProgress?.(done);
    files += 1;
    if (files % FILES_A_TURN === 0) await pause();
  }
  return judgement(findings, reasons);
}

function findingFault(source: SourceText, finding: Finding): string | undefined {
  const { line, column = 1, evidence, lineSha256 } = finding;
  if (findingId(finding) !== finding.id) return 'its id is not that of what it says';
  const text = source.line(line);
  if (text === undefined) return `its file has no line ${line}`;
  if (column > text.length + 1) return `line ${line} has no column ${column}`;
  if (sha256(text) !== lineSha256) return `line ${line} is not the line that was hashed`;
  return isEvidenceOf(evidence, text) ? undefined : `line ${line} does not read like its evidence`;
}

function judgement(findings: readonly Finding[], reasons: ReadonlyMap<Finding, string>): Verification {
  const approved = findings.filter((finding) => !reasons.has(finding));
  const rejected = [...reasons].map(([finding, reason]) => ({ finding, reason }));
  const verdict = rejected.length === 0 ? 'APPROVED' : approved.length > 0 ? 'NEEDS REVISION' : 'REJECTED';
  return { verdict, approved, rejected, feedback: feedbackOn(rejected) };
}

const MAX_NAMED = 5;

function feedbackOn(rejected: Verification['rejected']): string {
  if (rejected.length === 0) return '';
  const named = rejected
    .slice(0, MAX_NAMED)
    .map(({ finding: { file, line, rule }, reason }) => `${file}:${line} (${rule}): ${reason}`);
  const more = rejected.length - named.length;
  const count = `${rejected.length} of the findings ${rejected.length === 1 ? 'does' : 'do'} not hold`;
  return `${count}. ${named.join('; ')}${more > 0 ? `; and ${more} more` : ''}`;
}
