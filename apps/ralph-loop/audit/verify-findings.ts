import type { Verification } from './capabilities.ts';
import type { Finding } from './finding.ts';
import type { MemoryRelief } from './memory-relief.ts';
import type { ProgressCounter } from './progress-counter.ts';
import { AgainCheck } from './verify/check-again.ts';
import { checkClaim } from './verify/check-claim.ts';
import { lineCheck } from './verify/check-line.ts';
import { checkSize, isOfSize } from './verify/check-size.ts';
import { TrailCheck } from './verify/check-trail.ts';
import { readWithin } from './verify/read-within.ts';

export interface VerifyOptions {
  readonly progress: ProgressCounter;
  readonly memory: MemoryRelief;
}

/**
 * MERCURY's job: each finding against the files. `root` is a real path.
 *
 * A finding stands when it is true of the repository as it lies there now: its rule is known, its file is inside, its
 * line is the one that was hashed, and what can be looked up again in the files (a secret, a call, every import of a
 * circle) is found again.
 */
export async function verifyFindings(
  root: string,
  findings: readonly Finding[],
  { progress, memory }: VerifyOptions,
): Promise<Verification> {
  progress.expect(findings.length);
  const trails = new TrailCheck(root, memory);
  const again = new AgainCheck(root);
  const reasons = new Map<Finding, string>();
  for (const [file, ofFile] of Map.groupBy(findings, (finding) => finding.file)) {
    const read = readWithin(root, file);
    const checkLine = 'fault' in read ? () => read.fault : await lineCheck(root, read.source, ofFile);
    const checkPlace = (finding: Finding): string | undefined =>
      isOfSize(finding) ? checkSize(root, finding) : checkLine(finding);
    for (const finding of ofFile) {
      const reason =
        checkClaim(finding) ??
        checkPlace(finding) ??
        (await trails.fault(finding)) ??
        (await again.fault(finding));
      if (reason !== undefined) reasons.set(finding, reason);
      progress.advance();
    }
    if ('source' in read) await memory.parsed(read.source.text.length);
  }
  return judgement(findings, reasons);
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
