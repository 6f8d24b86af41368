import type { Note, Severity } from '@orrery/ralph-loop';
import { readSource } from '@orrery/ralph-loop/findings/read-source';
import type { SourceText } from '@orrery/ralph-loop/findings/source-text';
import type { Hit, Tool, ToolJob, ToolResult } from '../tool.ts';

type Rules = Tool['rules'];

/** A rule that was broken at one place; what is left out of `message` is what the rule is about. */
export interface Breach {
  readonly line: number;
  readonly column?: number | undefined;
  readonly message?: string | undefined;
  readonly help?: string | undefined;
}

/** Rules by how severe they are, each with what it is about. */
export type RulesBySeverity = Readonly<Partial<Record<Severity, Readonly<Record<string, string>>>>>;

/** The rules of a tool, under its name. */
export function ruleTable(tool: string, bySeverity: RulesBySeverity): Rules {
  const entries = Object.entries(bySeverity).flatMap(([severity, rules]) =>
    Object.entries(rules).map(([id, what]) => [`${tool}/${id}`, { severity: severity as Severity, what }]),
  );
  return Object.fromEntries(entries);
}

/** A hit of the rule in a table, or none: what the table does not name is not reported. */
export function hitOf(rules: Rules, rule: string, { file }: Pick<SourceText, 'file'>, breach: Breach): Hit[] {
  const known = Object.hasOwn(rules, rule) ? rules[rule] : undefined;
  if (known === undefined) return [];
  const { line, column, message = `${known.what}.`, help } = breach;
  const place = { file, line: Math.max(1, line), ...(column === undefined ? {} : { column }) };
  return [{ rule, severity: known.severity, ...place, message, ...(help === undefined ? {} : { help }) }];
}

/** Looks at each file of a job by itself. A file that cannot be read, or that the tool cannot take in, is a note. */
export async function scanFiles(
  { root, files }: ToolJob,
  progress: (done: number, of: number) => void,
  look: (
    source: SourceText,
    note: (kind: string, reason: string) => void,
  ) => readonly Hit[] | Promise<readonly Hit[]>,
): Promise<ToolResult> {
  const hits: Hit[] = [];
  const notes: Note[] = [];
  let filesSeen = 0;
  for (const [done, file] of files.entries()) {
    const note = (kind: string, reason: string): void => void notes.push({ kind, file, reason });
    const read = readSource(root, file);
    if ('skipped' in read) note(read.skipped, read.reason);
    else {
      try {
        hits.push(...(await look(read.source, note)));
        filesSeen += 1;
      } catch (error) {
        note('unparsable', `cannot be looked at: ${firstLine(error)}`);
      }
    }
    progress(done + 1, files.length);
  }
  return { hits, notes, filesSeen };
}

const firstLine = (error: unknown): string =>
  ((error instanceof Error ? error.message : String(error)).split('\n')[0] ?? '').slice(0, 300);

/** Of each rule the first few hits in a file, the last of which says how many more there are: they have one cause. */
export function firstOfEach(hits: readonly Hit[], few = 3): Hit[] {
  return [...Map.groupBy(hits, ({ rule }) => rule).values()].flatMap((alike) => {
    const last = alike[few - 1];
    if (alike.length <= few || last === undefined) return alike;
    const more = alike.length - few;
    const rest = `There ${more === 1 ? 'is' : 'are'} ${more} more like it in this file.`;
    return [...alike.slice(0, few - 1), { ...last, message: `${last.message} ${rest}` }];
  });
}
