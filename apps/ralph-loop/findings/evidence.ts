import { createHash } from 'node:crypto';
import type { Finding } from './finding.ts';
import type { SourceText } from './source-text.ts';

/** A part of a text, from offset `start` up to, not including, `end`. */
export interface TextRange {
  readonly start: number;
  readonly end: number;
}

const MAX_EVIDENCE = 200;
const SHOWN_OF_A_SECRET = 4;

/** Stands for the rest of a secret, whatever its length. */
export const MASK = '****';

/** The id of a finding: a hash of its fields, so that any change of them changes it. */
export function findingId(finding: Pick<Finding, 'rule' | 'file' | 'line' | 'column' | 'message'>): string {
  const { rule, file, line, column, message } = finding;
  return sha256([rule, file, line, column ?? 0, message].join('\0')).slice(0, 16);
}

/** The text of a line for a finding. Each secret shows only its beginning. `secrets` are ranges of the whole text. */
export function evidenceAt(source: SourceText, line: number, secrets: readonly TextRange[]): string {
  const text = source.line(line) ?? '';
  const start = source.startOf(line) ?? 0;
  return maskRanges(text, secrets, start).trim().slice(0, MAX_EVIDENCE);
}

/**
 * Whether `evidence` shows `line`: word for word, or with masked parts.
 *
 * Secrets are not searched again; the visible parts must occur in the line, in order.
 */
export function isEvidenceOf(evidence: string, line: string): boolean {
  const text = line.trim();
  if (evidence === text.slice(0, MAX_EVIDENCE)) return true;
  const [first = '', ...pieces] = evidence.split(MASK);
  if (pieces.length === 0 || !text.startsWith(first)) return false;
  const isCut = evidence.length === MAX_EVIDENCE;
  const last = pieces.pop() ?? '';
  let at = first.length;
  for (const piece of pieces) {
    const found = text.indexOf(piece, at);
    if (found === -1) return false;
    at = found + piece.length;
  }
  return isCut
    ? text.includes(last.replace(/\*+$/, ''), at)
    : text.endsWith(last) && text.length - last.length >= at;
}

/** The SHA-256 of a text as UTF-8, in hexadecimal. */
export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Masks ranges of a text. `start` is the offset of the text in what the ranges refer to. */
export function maskRanges(text: string, ranges: readonly TextRange[], start = 0): string {
  let shown = '';
  let at = 0;
  for (const range of [...ranges].sort((a, b) => a.start - b.start)) {
    const from = Math.max(at, range.start - start);
    const to = Math.min(text.length, range.end - start);
    if (from >= to) continue;
    const isContinued = range.start < start;
    shown += `${text.slice(at, from)}${isContinued ? '' : text.slice(from, Math.min(to, from + SHOWN_OF_A_SECRET))}${MASK}`;
    at = to;
  }
  return shown + text.slice(at);
}
