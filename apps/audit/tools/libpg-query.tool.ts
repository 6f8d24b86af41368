import type { AlterTableStmt, ColumnDef, CreateStmt, Node, RangeVar } from 'libpg-query';
import type { SourceText } from '@orrery/ralph-loop/findings/source-text';
import type { Tool } from '../tool.ts';
import { isSample, isTest } from './aside.ts';
import { hitOf, ruleTable, scanFiles } from './scan-files.ts';
import { sqlStatements } from './sql-statements.ts';

const RULES = ruleTable('libpg-query', {
  high: {
    'duplicate-column': 'The table is given the same column twice; PostgreSQL refuses it',
  },
  medium: {
    'not-null-without-default':
      'A column that must have a value is added without a default; this fails when the table has rows',
  },
});

/**
 * Finds faults in schemas and in the newest migration, by PostgreSQL's own parser. Older migrations have been applied
 * already.
 */
export const libpgQuery: Tool = {
  name: 'libpg-query',
  module: import.meta.url,
  packages: ['libpg-query'],
  licence: 'MIT',
  home: 'https://github.com/constructive-io/libpg-query-node',
  replaces: 'the rules schema.* on SQL',
  rules: RULES,
  nothing: 'no SQL',
  takes: (file) =>
    /\.(?:sql|ddl|pgsql)$/i.test(file) && !isSample(file) && !isTest(file) && !/[/._-]down\.sql$/i.test(file),
  run: async (job, progress) => {
    const { loadModule, parseSync } = await import('libpg-query');
    await loadModule();
    const newest = newestMigrations(job.files);
    return scanFiles(job, progress, (source, note) => {
      const dialect = foreignDialect(source.text);
      if (dialect !== undefined) {
        note('not-looked-at', `is written for ${dialect}`);
        return [];
      }
      const failed: number[] = [];
      const breaches: { rule: string; offset: number }[] = [];
      const empty = new Set<string>();
      for (const { text, start } of sqlStatements(upward(source.text))) {
        if (!OF_INTEREST.test(text) || text.length > MAX_STATEMENT) continue;
        const parsed = firstOf([text, inPlainWords(text)], (words) => parseSync(words).stmts?.[0]?.stmt);
        if (parsed === undefined) failed.push(source.positionAt(start).line);
        else
          for (const { rule, location = 0 } of breachesIn(parsed, empty))
            breaches.push({ rule, offset: start + indexOfByte(text, location) });
      }
      if (failed.length > 0)
        note(
          'unparsable',
          `PostgreSQL cannot parse ${failed.length} statements, the first at line ${failed[0]}`,
        );
      return breaches
        .filter(({ rule }) => rule !== 'not-null-without-default' || isOpen(source, newest))
        .flatMap(({ rule, offset }) =>
          hitOf(RULES, `libpg-query/${rule}`, source, source.positionAt(offset)),
        );
    });
  },
};

const MIGRATIONS = /^(.*?(?:^|\/)(?:migrations?|migrate|drizzle|versions)\/)/i;

/** The last file of each folder of migrations, by the number or date that its name begins with. */
function newestMigrations(files: readonly string[]): ReadonlySet<string | undefined> {
  const ofFolders = Map.groupBy(files, (file) => MIGRATIONS.exec(file)?.[1]);
  ofFolders.delete(undefined);
  const order = new Intl.Collator('en', { numeric: true });
  return new Set([...ofFolders.values()].map((some) => some.toSorted(order.compare).at(-1)));
}

/** Whether a change can still be written otherwise: it is not in an old migration, and Prisma has not warned about it. */
const isOpen = ({ file, text }: SourceText, newest: ReturnType<typeof newestMigrations>): boolean =>
  (!MIGRATIONS.test(file) || newest.has(file)) && !/^\s*\/\*\s*Warnings:/.test(text);

interface Breach {
  readonly rule: keyof typeof RULES;
  /** Offset in the statement, bytes. */
  readonly location: number | undefined;
}

/**
 * Finds breaches in a statement. `empty` collects tables that are certainly empty, because the file creates or clears them.
 */
function breachesIn(node: Node, empty: Set<string>): Breach[] {
  if ('CreateStmt' in node) return duplicatesIn(node.CreateStmt, empty);
  if ('AlterTableStmt' in node) return addedIn(node.AlterTableStmt, empty);
  if ('TruncateStmt' in node) {
    for (const table of node.TruncateStmt.relations ?? [])
      if ('RangeVar' in table) empty.add(nameOf(table.RangeVar));
  } else if ('DeleteStmt' in node && node.DeleteStmt.whereClause === undefined) {
    empty.add(nameOf(node.DeleteStmt.relation));
  }
  return [];
}

function duplicatesIn({ relation, tableElts = [] }: CreateStmt, empty: Set<string>): Breach[] {
  empty.add(nameOf(relation));
  const columns = tableElts.flatMap((one) => ('ColumnDef' in one ? [one.ColumnDef] : []));
  return columns
    .filter(({ colname }, at) => columns.findIndex((one) => one.colname === colname) < at)
    .map(({ location }) => ({ rule: 'duplicate-column', location }));
}

function addedIn({ relation, cmds = [] }: AlterTableStmt, empty: ReadonlySet<string>): Breach[] {
  if (empty.has(nameOf(relation))) return [];
  return cmds.flatMap((command): Breach[] => {
    if (!('AlterTableCmd' in command) || command.AlterTableCmd.subtype !== 'AT_AddColumn') return [];
    const { def } = command.AlterTableCmd;
    return def !== undefined && 'ColumnDef' in def && needsValue(def.ColumnDef)
      ? [{ rule: 'not-null-without-default', location: def.ColumnDef.location }]
      : [];
  });
}

const FILLED = new Set(['CONSTR_DEFAULT', 'CONSTR_IDENTITY', 'CONSTR_GENERATED']);

/** Whether a column must have a value, and has no default. */
function needsValue({ constraints = [], typeName }: ColumnDef): boolean {
  const types = constraints.map((one) => ('Constraint' in one ? one.Constraint.contype : undefined) ?? '');
  const mustHave = types.includes('CONSTR_NOTNULL') || types.includes('CONSTR_PRIMARY');
  const type = (typeName?.names ?? []).flatMap((name) => ('String' in name ? (name.String.sval ?? []) : []));
  return mustHave && !types.some((one) => FILLED.has(one)) && !/serial$/.test(type.at(-1) ?? '');
}

const nameOf = (relation: RangeVar | undefined): string => relation?.relname ?? '';

function firstOf<Given, Made>(
  given: readonly Given[],
  make: (one: Given) => Made | undefined,
): Made | undefined {
  for (const one of given) {
    try {
      const made = make(one);
      if (made !== undefined) return made;
    } catch {
      // Another dialect, a template or a mistake. The caller counts it.
    }
  }
  return undefined;
}

/** The longest statement to parse, characters. Longer ones are data, and the parser's stack is limited. */
const MAX_STATEMENT = 128 * 1024;
const OF_INTEREST =
  /^(?:create\s+(?:(?:global|local|temp|temporary|unlogged)\s+)*table|alter\s+table|truncate|delete\s+from)\b/i;

const DIALECTS: readonly (readonly [name: string, marks: RegExp])[] = [
  ['ClickHouse', /\bENGINE\s*=\s*\w*MergeTree\b|\bLowCardinality\s*\(|\bNullable\s*\(|\bON\s+CLUSTER\b/i],
  [
    'MySQL',
    /\bENGINE\s*=|\bAUTO_INCREMENT\b|\bUNSIGNED\b|^[ \t]*DELIMITER\s|\bCHARSET\s*=|\b(?:TINYINT|MEDIUMINT|LONGTEXT|MEDIUMTEXT)\b|\bON\s+UPDATE\s+CURRENT_TIMESTAMP\b|^ALTER TABLE `[^`]*` (?:ADD CONSTRAINT|MODIFY|CHANGE)\b/im,
  ],
  ['SQL Server', /^[ \t]*GO[ \t]*\r?$|\bNVARCHAR\b|\bIDENTITY\s*\(\s*\d|\bCLUSTERED\b|\[dbo\]/im],
  ['Oracle', /\bVARCHAR2\b|\bNUMBER\s*\(\s*\d/i],
];

/** The dialect of a file, if it is neither PostgreSQL nor SQLite, by words that only that dialect has. */
const foreignDialect = (text: string): string | undefined =>
  DIALECTS.find(([, marks]) => marks.test(text))?.[0];

const DOWN =
  /^[ \t]*--[ \t]*(?:\+goose\s+down|migrate:down|\+migrate\s+down|down\s+migration|\/\/@undo|@down|rollback)\b/im;

/** The part of a migration that applies it, without the part that reverts it. */
const upward = (text: string): string => text.slice(0, DOWN.exec(text)?.index ?? text.length);

const SQLITE_WORDS =
  /\bAUTOINCREMENT\b|\bWITHOUT\s+ROWID\b|(?<=\)\s*)STRICT(?=\s*$)|\bON\s+CONFLICT\s+(?:ROLLBACK|ABORT|FAIL|IGNORE|REPLACE)\b/gi;
/** Placeholders for a name: `:NAME` of psql, `@name@` of extensions, `${name}` and `{{ name }}` of templates. */
const HOLE = /(?<![:\w]):(?=[A-Za-z_])|@(?=\w+@)|(?<=@\w+)@|\$\{[\w.]+\}|\{\{[^{}]*\}\}/g;

/** Replaces SQLite's words and placeholders by what PostgreSQL accepts, with all offsets unchanged. */
const inPlainWords = (text: string): string =>
  text
    .replace(SQLITE_WORDS, (words) => ' '.repeat(words.length))
    .replace(HOLE, (hole) => hole.replace(/\W/g, '_'))
    .replace(/`([^`"\n]*)`/g, '"$1"');

/** Converts the parser's offset in bytes to UTF-16 units. */
function indexOfByte(text: string, location: number): number {
  return Buffer.from(text).subarray(0, Math.max(0, location)).toString().length;
}
