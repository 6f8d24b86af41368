import { createHash } from 'node:crypto';
import type { Finding } from './finding.ts';
import { ruleOf, severityAt } from './rules.ts';
import { findSecrets, type TextRange } from './secrets.ts';
import { SourceText } from './source-text.ts';

const MAX_EVIDENCE = 200;
const MAX_MESSAGE = 500;
const SHOWN_OF_A_SECRET = 4;

/** What an analyser saw; `findingsOf` makes the finding. */
export interface Defect {
  readonly rule: string;
  readonly offset: number;
  /** @default the rule's own words */
  readonly message?: string;
  readonly trail?: readonly string[];
}

/** The defects of one file as findings. Secrets are masked wherever they stand, also in a compiler's message. */
export async function findingsOf(
  source: SourceText,
  defects: readonly Defect[],
  secrets?: readonly TextRange[],
): Promise<Finding[]> {
  if (defects.length === 0) return [];
  const masks = secrets ?? (await findSecrets(source));
  return Promise.all(defects.map((defect) => findingOf(source, defect, masks)));
}

async function findingOf(source: SourceText, defect: Defect, masks: readonly TextRange[]): Promise<Finding> {
  const rule = ruleOf(defect.rule);
  if (rule === undefined) throw new Error(`rule ${defect.rule} is not in RULES`);
  const { line, column } = source.positionAt(defect.offset);
  const place = { rule: defect.rule, file: source.file, line, column };
  // Masked before it is cut: half a key is not recognised as one.
  const message = (await masked(defect.message ?? rule.what)).slice(0, MAX_MESSAGE);
  return {
    id: findingId({ ...place, message }),
    ...place,
    severity: severityAt(rule, source.file),
    message,
    evidence: evidenceAt(source, line, masks),
    lineSha256: sha256(source.line(line) ?? ''),
    ...(defect.trail === undefined ? {} : { trail: [...defect.trail] }),
    agent: rule.agent,
  };
}

/** Made of what the finding says, so that changing a word of it changes the id. */
export function findingId(finding: Pick<Finding, 'rule' | 'file' | 'line' | 'column' | 'message'>): string {
  const { rule, file, line, column, message } = finding;
  return sha256([rule, file, line, column ?? 0, message].join('\0')).slice(0, 16);
}

/** The text of a line as a finding shows it. */
export function evidenceAt(source: SourceText, line: number, secrets: readonly TextRange[]): string {
  const text = source.line(line) ?? '';
  const start = source.startOf(line) ?? 0;
  return maskRanges(text, start, secrets).trim().slice(0, MAX_EVIDENCE);
}

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

async function masked(message: string): Promise<string> {
  return maskRanges(message, 0, await findSecrets(new SourceText('message', message)));
}

/** `text` begins at offset `start` of what the ranges count in. The mask's length says nothing about the secret's. */
function maskRanges(text: string, start: number, ranges: readonly TextRange[]): string {
  let shown = '';
  let at = 0;
  for (const range of [...ranges].sort((a, b) => a.start - b.start)) {
    const from = Math.max(at, range.start - start);
    const to = Math.min(text.length, range.end - start);
    if (from >= to) continue;
    const isContinued = range.start < start;
    shown += `${text.slice(at, from)}${isContinued ? '' : text.slice(from, Math.min(to, from + SHOWN_OF_A_SECRET))}****`;
    at = to;
  }
  return shown + text.slice(at);
}
