import type { AlterTableCmd, AlterTableStmt, CreateStmt, IndexStmt, RangeVar } from 'libpg-query';
import type { Defect } from '../evidence.ts';
import type { SourceText } from '../../findings/source-text.ts';
import { constraintsOf, needsValue } from './constraints.ts';
import { type ParsedStatement, parseStatement } from './parse-sql.ts';
import { foreignDialect, upward } from './sql-dialect.ts';
import { sqlStatements } from './sql-statements.ts';
import { readsEveryColumn } from './views.ts';

/** A table without a key, or a foreign key without an index, unless something elsewhere makes up for it. */
export interface Candidate {
  readonly defect: Defect;
  readonly table: string;
  /** Of the foreign key; absent where the table itself is meant. */
  readonly columns?: readonly string[];
}

/**
 * What one file of SQL says. Tables are known by their names without schemas.
 *
 * - `defects`     what is wrong whatever other files say.
 * - `keyed`       tables that are given a primary or unique key, or belong to one that has.
 * - `indexed`     `table column`: the first column of an index or key.
 * - `gone`        tables that the file drops and does not create again.
 * - `renamed`     the new names of tables by their old ones.
 * - `programmed`  the words of code that may do anything of this when it runs.
 * - `unparsable`  what could not be looked at.
 */
export interface SqlSchema {
  readonly defects: readonly Defect[];
  readonly candidates: readonly Candidate[];
  readonly keyed: ReadonlySet<string>;
  readonly indexed: ReadonlySet<string>;
  readonly gone: ReadonlySet<string>;
  readonly renamed: ReadonlyMap<string, string>;
  readonly programmed: ReadonlySet<string>;
  readonly unparsable?: string;
}

const OF_INTEREST =
  /^(?:create\s+(?:(?:global|local|temp|temporary|unlogged|unique|or\s+replace|recursive|materialized)\s+)*(?:table|index|view)|alter\s+(?:table|index)|drop\s+table|truncate|delete\s+from)\b/i;
const PROGRAM = /^(?:do|create\s+(?:or\s+replace\s+)?(?:function|procedure)|select|call|exec|execute)\b/i;
const PROGRAMS_SCHEMA = /primary\s+key|\bindex\b|create_hypertable|create_distributed_table/i;

/** Needs `readyToParse` to have been awaited. */
export function readSqlSchema(source: SourceText): SqlSchema {
  const reader = new SqlReader();
  const dialect = foreignDialect(source.text);
  if (dialect !== undefined) {
    return Object.assign(reader, { unparsable: `is written for ${dialect}, which is not looked at` });
  }
  let [seen, failed] = [0, 0];
  for (const statement of sqlStatements(upward(source.text))) {
    if (PROGRAM.test(statement.text)) reader.readProgram(statement.text);
    if (!OF_INTEREST.test(statement.text)) continue;
    const parsed = parseStatement(statement);
    seen += 1;
    if (parsed === undefined) failed += 1;
    else reader.read(parsed);
  }
  if (failed === 0) return reader;
  const unparsable = `${failed} of ${seen} statements about tables are neither PostgreSQL nor SQLite`;
  return Object.assign(reader, { unparsable });
}

class SqlReader implements SqlSchema {
  readonly defects: Defect[] = [];
  readonly candidates: Candidate[] = [];
  readonly keyed = new Set<string>();
  readonly indexed = new Set<string>();
  readonly gone = new Set<string>();
  readonly renamed = new Map<string, string>();
  readonly programmed = new Set<string>();
  /** Tables of this file, with their schemas, that exist at the place that is read. */
  readonly #created = new Set<string>();
  /** Tables that are surely empty: created or cleared in this file. */
  readonly #empty = new Set<string>();
  readonly #indexes = new Set<string>();

  readProgram(text: string): void {
    if (!PROGRAMS_SCHEMA.test(text)) return;
    for (const [word] of text.toLowerCase().matchAll(/\w+/g)) this.programmed.add(word);
  }

  read({ node, offsetOf }: ParsedStatement): void {
    if ('CreateStmt' in node) this.#create(node.CreateStmt, offsetOf);
    else if ('AlterTableStmt' in node) this.#alter(node.AlterTableStmt, offsetOf);
    else if ('IndexStmt' in node) this.#index(node.IndexStmt, offsetOf);
    else if ('ViewStmt' in node) {
      if (readsEveryColumn(node.ViewStmt.query)) this.#defect('schema.select-star-view', offsetOf(0));
    } else if ('CreateTableAsStmt' in node) {
      const { objtype, query } = node.CreateTableAsStmt;
      const isStar = objtype === 'OBJECT_MATVIEW' && readsEveryColumn(query);
      if (isStar) this.#defect('schema.select-star-view', offsetOf(0));
    } else if ('RenameStmt' in node) {
      const { relation, newname, renameType } = node.RenameStmt;
      if (renameType === 'OBJECT_TABLE') this.#rename(nameOf(relation), newname ?? '');
    } else if ('DropStmt' in node) {
      const { objects = [], removeType } = node.DropStmt;
      if (removeType !== 'OBJECT_TABLE') return;
      for (const object of objects) if ('List' in object) this.#drop(lastName(object.List.items));
    } else if ('TruncateStmt' in node) {
      for (const table of node.TruncateStmt.relations ?? []) {
        if ('RangeVar' in table) this.#empty.add(nameOf(table.RangeVar));
      }
    } else if ('DeleteStmt' in node && node.DeleteStmt.whereClause === undefined) {
      this.#empty.add(nameOf(node.DeleteStmt.relation));
    }
  }

  #create({ relation, tableElts = [], ...rest }: CreateStmt, offsetOf: ParsedStatement['offsetOf']): void {
    const table = nameOf(relation);
    const offset = offsetOf(relation?.location);
    if (relation?.relpersistence === 't') {
      this.#empty.add(table);
      return;
    }
    const full = `${relation?.schemaname ?? ''}.${table}`;
    if (this.#created.has(full) && !rest.if_not_exists) this.#defect('schema.duplicate-table', offset);
    this.#created.add(full);
    this.#empty.add(table);
    this.gone.delete(table);
    const names = new Set<string>();
    for (const element of tableElts) {
      if (!('ColumnDef' in element)) continue;
      const { colname = '', location } = element.ColumnDef;
      if (names.has(colname)) this.#defect('schema.duplicate-column', offsetOf(location));
      names.add(colname);
    }
    const isDerived =
      rest.inhRelations !== undefined ||
      rest.partbound !== undefined ||
      rest.ofTypename !== undefined ||
      tableElts.some((element) => 'TableLikeClause' in element);
    const { keys } = this.#constrain(table, tableElts, offsetOf);
    if (isDerived) this.#inherits(table);
    else if (keys.length === 0 && names.size > 0) {
      this.candidates.push({ defect: { rule: 'schema.no-primary-key', offset }, table });
    }
  }

  #alter({ relation, cmds = [] }: AlterTableStmt, offsetOf: ParsedStatement['offsetOf']): void {
    const table = nameOf(relation);
    for (const command of cmds) {
      if ('AlterTableCmd' in command) this.#change(table, command.AlterTableCmd, offsetOf);
    }
  }

  #change(table: string, { subtype, def }: AlterTableCmd, offsetOf: ParsedStatement['offsetOf']): void {
    if (subtype === 'AT_AttachPartition' && def !== undefined && 'PartitionCmd' in def) {
      this.#inherits(nameOf(def.PartitionCmd.name));
    } else if (subtype === 'AT_AddInherit') this.#inherits(table);
    if (def === undefined || (subtype !== 'AT_AddColumn' && subtype !== 'AT_AddConstraint')) return;
    this.#constrain(table, [def], offsetOf);
    if ('ColumnDef' in def && needsValue(def.ColumnDef) && !this.#empty.has(table)) {
      this.#defect('schema.not-null-without-default', offsetOf(def.ColumnDef.location));
    }
  }

  #constrain(table: string, elements: CreateStmt['tableElts'], offsetOf: ParsedStatement['offsetOf']) {
    const constraints = constraintsOf(elements ?? []);
    for (const [first] of constraints.keys) {
      this.keyed.add(table);
      if (first !== undefined) this.indexed.add(`${table} ${first}`);
    }
    for (const { columns, location } of constraints.foreignKeys) {
      const defect = { rule: 'schema.foreign-key-without-index', offset: offsetOf(location) };
      this.candidates.push({ defect, table, columns });
    }
    return constraints;
  }

  #index({ relation, indexParams = [], ...index }: IndexStmt, offsetOf: ParsedStatement['offsetOf']): void {
    const table = nameOf(relation);
    const [first] = indexParams;
    const column = first !== undefined && 'IndexElem' in first ? first.IndexElem.name : undefined;
    if (column !== undefined) this.indexed.add(`${table} ${column}`);
    if (index.unique) this.keyed.add(table);
    const { accessMethod, whereClause, unique } = index;
    const same = withoutPlaces([relation?.schemaname, table, accessMethod, indexParams, whereClause, unique]);
    if (this.#indexes.has(same) && !index.if_not_exists) this.#defect('schema.duplicate-index', offsetOf(0));
    this.#indexes.add(same);
  }

  /** It has the keys and indexes of another table. */
  #inherits(table: string): void {
    this.keyed.add(table);
    this.indexed.add(`${table} *`);
  }

  #rename(from: string, to: string): void {
    this.renamed.set(from, to);
    this.gone.delete(to);
    for (const full of this.#created) if (full.endsWith(`.${from}`)) this.#created.delete(full);
  }

  #drop(table: string): void {
    this.gone.add(table);
    for (const full of this.#created) if (full.endsWith(`.${table}`)) this.#created.delete(full);
    this.#indexes.clear();
  }

  #defect(rule: string, offset: number): void {
    this.defects.push({ rule, offset });
  }
}

const nameOf = (relation: RangeVar | undefined): string => relation?.relname ?? '';

function lastName(names: CreateStmt['tableElts'] = []): string {
  const last = names.at(-1);
  return last !== undefined && 'String' in last ? (last.String.sval ?? '') : '';
}

const withoutPlaces = (value: unknown): string =>
  JSON.stringify(value, (key, part: unknown) => (key === 'location' ? undefined : part));
