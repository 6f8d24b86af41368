import { evidenceAt, findingId, sha256, type TextRange } from './evidence.ts';
import type { Finding } from './finding.ts';
import type { SourceText } from './source-text.ts';

/** A defect at a line, without the fields that `findingAt` adds for the gate. */
export type Seen = Omit<Finding, 'id' | 'file' | 'evidence' | 'lineSha256'>;

/** Makes a finding at a line of a file. `secrets` are ranges of the whole text, of which only the beginning is shown. */
export function findingAt(source: SourceText, seen: Seen, secrets: readonly TextRange[] = []): Finding {
  const place = { ...seen, file: source.file };
  return {
    id: findingId(place),
    ...place,
    evidence: evidenceAt(source, seen.line, secrets),
    lineSha256: sha256(source.line(seen.line) ?? ''),
  };
}
