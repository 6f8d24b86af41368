import type { SourceText } from '@orrery/ralph-loop/findings/source-text';
import type { Hit, Tool } from '../tool.ts';
import { isSample } from './aside.ts';
import { hitOf, ruleTable, scanFiles } from './scan-files.ts';
import { type Candidate, SqlSchema } from './sql-schema.ts';
import { sqlStatements } from './sql-statements.ts';

const RULES = ruleTable('libpg-query', {
  high: {
    'duplicate-column': 'The table is given the same column twice; PostgreSQL refuses it',
  },
  medium: {
    'not-null-without-default':
      'A column that must have a value is added without a default; this fails when the table has rows',
  },
  low: {
    'foreign-key-without-index':
      'Nothing indexes the column of this foreign key; deleting what it refers to reads the whole table',
    'no-primary-key': 'The table has no primary or unique key; its rows cannot be told apart, nor replicated',
  },
});

/** What PostgreSQL's own parser says of schemas and migrations. */
export const libpgQuery: Tool = {
  name: 'libpg-query',
  module: import.meta.url,
  packages: ['libpg-query'],
  licence: 'MIT',
  home: 'https://github.com/constructive-io/libpg-query-node',
  replaces: 'the rules schema.* on SQL',
  rules: RULES,
  nothing: 'no SQL',
  takes: (file) => /\.(?:sql|ddl|pgsql)$/i.test(file) && !isSample(file) && !/[/._-]down\.sql$/i.test(file),
  run: async (job, progress) => {
    const { loadModule, parseSync } = await import('libpg-query');
    await loadModule();
    const schema = new SqlSchema();
    const candidates: (Candidate & { readonly source: SourceText })[] = [];
    const result = await scanFiles(job, progress, (source, note) => {
      const dialect = foreignDialect(source.text);
      if (dialect !== undefined) {
        note('not-looked-at', `is written for ${dialect}`);
        return [];
      }
      const failed: number[] = [];
      const found: Candidate[] = [];
      schema.beginFile();
      for (const { text, start } of sqlStatements(upward(source.text))) {
        if (PROGRAM.test(text)) schema.readProgram(text);
        if (!OF_INTEREST.test(text) || text.length > MAX_STATEMENT) continue;
        const parsed = firstOf([text, inPlainWords(text)], (words) => parseSync(words).stmts?.[0]?.stmt);
        if (parsed === undefined) failed.push(source.positionAt(start).line);
        else found.push(...schema.read(parsed, (location) => start + indexOfByte(text, location ?? 0)));
      }
      if (failed.length > 0)
        note(
          'unparsable',
          `PostgreSQL cannot parse ${failed.length} statements, the first at line ${failed[0]}`,
        );
      candidates.push(...found.map((one) => ({ ...one, source })));
      return [];
    });
    const lacking = candidates.filter((one) => schema.confirms(one));
    // A key that is dropped and given again is lacking once, where it was given last.
    const last = new Map(
      lacking.map((one) => [`${one.rule} ${one.table} ${one.columns ?? one.offset}`, one]),
    );
    return { ...result, hits: [...last.values()].flatMap(hitFor) };
  },
};

const hitFor = ({ rule: id, offset, source }: Candidate & { readonly source: SourceText }): Hit[] =>
  hitOf(RULES, `libpg-query/${id}`, source, source.positionAt(offset));

function firstOf<Given, Made>(
  given: readonly Given[],
  make: (one: Given) => Made | undefined,
): Made | undefined {
  for (const one of given) {
    try {
      const made = make(one);
      if (made !== undefined) return made;
    } catch {
      // Another dialect, a template, or a mistake: the caller counts it.
    }
  }
  return undefined;
}

/** Longer ones are data; the parser's own stack is bounded. */
const MAX_STATEMENT = 128 * 1024;
const OF_INTEREST =
  /^(?:create\s+(?:(?:global|local|temp|temporary|unlogged|unique)\s+)*(?:table|index)|alter\s+table|drop\s+table|truncate|delete\s+from)\b/i;
const PROGRAM = /^(?:do|create\s+(?:or\s+replace\s+)?(?:function|procedure)|select|call|exec|execute)\b/i;

const DIALECTS: readonly (readonly [name: string, marks: RegExp])[] = [
  ['ClickHouse', /\bENGINE\s*=\s*\w*MergeTree\b|\bLowCardinality\s*\(|\bNullable\s*\(|\bON\s+CLUSTER\b/i],
  [
    'MySQL',
    /\bENGINE\s*=|\bAUTO_INCREMENT\b|\bUNSIGNED\b|^[ \t]*DELIMITER\s|\bCHARSET\s*=|\b(?:TINYINT|MEDIUMINT|LONGTEXT|MEDIUMTEXT)\b|\bON\s+UPDATE\s+CURRENT_TIMESTAMP\b|^ALTER TABLE `[^`]*` (?:ADD CONSTRAINT|MODIFY|CHANGE)\b/im,
  ],
  ['SQL Server', /^[ \t]*GO[ \t]*\r?$|\bNVARCHAR\b|\bIDENTITY\s*\(\s*\d|\bCLUSTERED\b|\[dbo\]/im],
  ['Oracle', /\bVARCHAR2\b|\bNUMBER\s*\(\s*\d/i],
];

/** The dialect that a file is written in, if it is neither PostgreSQL nor SQLite; by words that only that one has. */
const foreignDialect = (text: string): string | undefined =>
  DIALECTS.find(([, marks]) => marks.test(text))?.[0];

const DOWN =
  /^[ \t]*--[ \t]*(?:\+goose\s+down|migrate:down|\+migrate\s+down|down\s+migration|\/\/@undo|@down|rollback)\b/im;

/** What a migration does going up; what takes it back says everything in reverse. */
const upward = (text: string): string => text.slice(0, DOWN.exec(text)?.index ?? text.length);

const SQLITE_WORDS =
  /\bAUTOINCREMENT\b|\bWITHOUT\s+ROWID\b|(?<=\)\s*)STRICT(?=\s*$)|\bON\s+CONFLICT\s+(?:ROLLBACK|ABORT|FAIL|IGNORE|REPLACE)\b/gi;
/** `:NAME` of psql, `@name@` of extensions, `${name}` and `{{ name }}` of templates: a name goes in there. */
const HOLE = /(?<![:\w]):(?=[A-Za-z_])|@(?=\w+@)|(?<=@\w+)@|\$\{[\w.]+\}|\{\{[^{}]*\}\}/g;

/** The same text in words that PostgreSQL knows, every one where it was. */
const inPlainWords = (text: string): string =>
  text
    .replace(SQLITE_WORDS, (words) => ' '.repeat(words.length))
    .replace(HOLE, (hole) => hole.replace(/\W/g, '_'))
    .replace(/`([^`"\n]*)`/g, '"$1"');

/** The parser counts bytes. */
function indexOfByte(text: string, location: number): number {
  return Buffer.from(text).subarray(0, Math.max(0, location)).toString().length;
}
