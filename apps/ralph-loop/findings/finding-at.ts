import { evidenceAt, findingId, sha256, type TextRange } from './evidence.ts';
import type { Finding } from './finding.ts';
import type { SourceText } from './source-text.ts';

/** What somebody saw at a line of a file; `findingAt` adds what a gate needs to check it. */
export type Seen = Omit<Finding, 'id' | 'file' | 'evidence' | 'lineSha256'>;

/** The finding at a line of a file as it was read. Of `secrets`, ranges of the whole text, it shows only the beginning. */
export function findingAt(source: SourceText, seen: Seen, secrets: readonly TextRange[] = []): Finding {
  const place = { ...seen, file: source.file };
  return {
    id: findingId(place),
    ...place,
    evidence: evidenceAt(source, seen.line, secrets),
    lineSha256: sha256(source.line(seen.line) ?? ''),
  };
}
