import type { Finding, Note } from '@orrery/ralph-loop';
import {
  evidenceAt,
  findingId,
  maskRanges,
  sha256,
  type TextRange,
} from '@orrery/ralph-loop/findings/evidence';
import { readSource } from '@orrery/ralph-loop/findings/read-source';
import { SourceText } from '@orrery/ralph-loop/findings/source-text';
import { type Hit, ruleOf, type Tool } from './tool.ts';

const MAX_MESSAGE = 500;

/** The agent that reports, and the root of the repository. */
export interface HitsOptions {
  readonly agent: string;
  readonly root: string;
}

/**
 * Converts hits of a tool to findings, with the text of their lines. Secrets in lines and messages are masked. A hit without
 * a place, or with a rule that the tool does not declare, becomes a note.
 */
export async function reportOfHits(
  tool: Pick<Tool, 'name' | 'rules'>,
  hits: readonly Hit[],
  { agent, root }: HitsOptions,
): Promise<{ findings: Finding[]; notes: Note[] }> {
  const findings: Finding[] = [];
  const notes: Note[] = [];
  const known = hits.filter((hit) => ruleOf(tool, hit.rule) !== undefined);
  for (const rule of new Set(hits.filter((hit) => !known.includes(hit)).map((hit) => hit.rule)))
    notes.push({ kind: 'unknown-rule', reason: `${rule} is none of the rules of ${tool.name}` });
  if (known.length === 0) return { findings, notes };
  const messages = await masked(known.map(({ message }) => message));
  const reported = known.map((hit, index) => ({ ...hit, message: messages[index] as string }));
  for (const [file, ofFile] of Map.groupBy(reported, (hit) => hit.file)) {
    const read = readSource(root, file);
    if ('skipped' in read) {
      notes.push({
        kind: 'misplaced',
        file,
        reason: `${ofFile.length} hits of ${tool.name}: it ${read.reason}`,
      });
      continue;
    }
    const secrets = await secretsOf(read.source);
    for (const hit of ofFile) findings.push(findingOf(hit, read.source, { secrets, agent }));
  }
  return { findings, notes };
}

function findingOf(
  { rule, severity, file, line: claimed, column, message, help, trail }: Hit,
  source: SourceText,
  { secrets, agent }: { readonly secrets: readonly TextRange[]; readonly agent: string },
): Finding {
  const line = lineWithText(source, claimed);
  const text = source.line(line) ?? '';
  const isColumn = line === claimed && column !== undefined && column > 0 && column <= text.length + 1;
  const place = { rule, file, line, ...(isColumn ? { column } : {}), message };
  return {
    id: findingId(place),
    ...place,
    severity,
    evidence: evidenceAt(source, line, secrets),
    lineSha256: sha256(text),
    ...(trail === undefined ? {} : { trail: [...trail] }),
    ...(help === undefined ? {} : { help }),
    agent,
  };
}

/** The line itself, or the last line with text before it, or the first. */
function lineWithText(source: SourceText, claimed: number): number {
  let line = claimed;
  while (line > 1 && (source.line(line) ?? '').trim() === '') line -= 1;
  return Math.max(1, line);
}

/** Masks messages, before they are cut: half a key would not be recognised. */
async function masked(messages: readonly string[]): Promise<string[]> {
  const lines = messages.map((message) => message.replace(/\s*\n\s*/g, ' '));
  const source = new SourceText('messages', lines.join('\n'));
  const secrets = await secretsOf(source);
  return lines.map((line, index) =>
    maskRanges(line, secrets, source.startOf(index + 1)).slice(0, MAX_MESSAGE),
  );
}

/** Finds secrets. The scanner is loaded on first use. */
async function secretsOf(source: SourceText): Promise<readonly TextRange[]> {
  const { findSecrets } = await import('./secrets.ts');
  return findSecrets(source);
}
