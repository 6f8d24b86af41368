import { evidenceAt, findingId, maskRanges, sha256, type TextRange } from '../findings/evidence.ts';
import type { Finding } from '../findings/finding.ts';
import { ruleOf, severityAt } from './rules.ts';
import { findSecrets } from './secrets.ts';
import { SourceText } from '../findings/source-text.ts';

const MAX_MESSAGE = 500;

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

async function masked(message: string): Promise<string> {
  return maskRanges(message, await findSecrets(new SourceText('message', message)));
}
