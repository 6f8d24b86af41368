import type { Note, Severity } from '@orrery/ralph-loop';
import { readSource } from '@orrery/ralph-loop/findings/read-source';
import type { SourceText } from '@orrery/ralph-loop/findings/source-text';
import type { Hit, Tool, ToolJob, ToolResult } from '../tool.ts';

type Rules = Tool['rules'];

/** A place where a rule is broken. `message` defaults to the sentence of the rule. */
export interface Breach {
  readonly line: number;
  readonly column?: number | undefined;
  readonly message?: string | undefined;
  readonly help?: string | undefined;
}

/** Sentences of rules, by severity and id. */
export type RulesBySeverity = Readonly<Partial<Record<Severity, Readonly<Record<string, string>>>>>;

/** Makes the rules of a tool, with its name before each id. */
export function ruleTable(tool: string, bySeverity: RulesBySeverity): Rules {
  const entries = Object.entries(bySeverity).flatMap(([severity, rules]) =>
    Object.entries(rules).map(([id, what]) => [`${tool}/${id}`, { severity: severity as Severity, what }]),
  );
  return Object.fromEntries(entries);
}

/** Makes a hit of a rule; none if the table does not have the rule. */
export function hitOf(rules: Rules, rule: string, { file }: Pick<SourceText, 'file'>, breach: Breach): Hit[] {
  const known = Object.hasOwn(rules, rule) ? rules[rule] : undefined;
  if (known === undefined) return [];
  const { line, column, message = `${known.what}.`, help } = breach;
  const place = { file, line: Math.max(1, line), ...(column === undefined ? {} : { column }) };
  return [{ rule, severity: known.severity, ...place, message, ...(help === undefined ? {} : { help }) }];
}

/** Runs `look` on each file of a job. A file that cannot be read, or that `look` throws for, becomes a note. */
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

/** The first few hits of each rule in a file, because they have one cause. The last of them says how many more there are. */
export function firstOfEach(hits: readonly Hit[], few = 3): Hit[] {
  return [...Map.groupBy(hits, ({ rule }) => rule).values()].flatMap((alike) => {
    const last = alike[few - 1];
    if (alike.length <= few || last === undefined) return alike;
    const more = alike.length - few;
    const rest = `There ${more === 1 ? 'is' : 'are'} ${more} more like it in this file.`;
    return [...alike.slice(0, few - 1), { ...last, message: `${last.message} ${rest}` }];
  });
}
