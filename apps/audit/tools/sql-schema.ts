import type {
  AlterTableStmt,
  ColumnDef,
  Constraint,
  CreateStmt,
  IndexStmt,
  Node,
  RangeVar,
} from 'libpg-query';

/** What may be wrong at an offset, unless something elsewhere makes up for it. */
export interface Candidate {
  readonly rule:
    | 'duplicate-column'
    | 'foreign-key-without-index'
    | 'no-primary-key'
    | 'not-null-without-default';
  readonly offset: number;
  readonly table: string;
  /** Of the foreign key; absent where the table itself is meant. */
  readonly columns?: readonly string[];
}

type Place = (location: number | undefined) => number;

const PROGRAMS_SCHEMA = /primary\s+key|\bindex\b|create_hypertable|create_distributed_table/i;

/**
 * What all files of SQL together say of tables, known by their names without schemas.
 *
 * A table may get its key, and a foreign key its index, in any file, in any order; so what is missing is only said when all
 * files are read.
 */
export class SqlSchema {
  /** Tables with a primary or unique key, or that belong to one with it. */
  readonly #keyed = new Set<string>();
  /** `table column`: the first column of an index or key. */
  readonly #indexed = new Set<string>();
  readonly #gone = new Set<string>();
  readonly #renamed = new Map<string, string>();
  /** The words of code that may do anything of this when it runs. */
  readonly #programmed = new Set<string>();
  /** Tables that are surely empty in the file that is read: created or cleared there. */
  #empty = new Set<string>();

  beginFile(): void {
    this.#empty = new Set();
  }

  /** Whether nothing in any file makes up for what the candidate lacks. */
  confirms({ rule, table, columns }: Candidate): boolean {
    if (rule === 'duplicate-column' || rule === 'not-null-without-default') return true;
    return [...this.#namesOf(table)].every((name) => {
      const isMadeUpFor =
        columns === undefined
          ? this.#keyed.has(name)
          : [...columns, '*'].some((column) => this.#indexed.has(`${name} ${column}`));
      return !isMadeUpFor && !this.#gone.has(name) && !this.#programmed.has(name);
    });
  }

  /** A table's name, and those that it was given later. */
  #namesOf(table: string): Set<string> {
    const names = new Set([table]);
    for (const name of names) names.add(this.#renamed.get(name) ?? name);
    return names;
  }

  readProgram(text: string): void {
    if (!PROGRAMS_SCHEMA.test(text)) return;
    for (const [word] of text.toLowerCase().matchAll(/\w+/g)) this.#programmed.add(word);
  }

  read(node: Node, placeOf: Place): Candidate[] {
    if ('CreateStmt' in node) return this.#create(node.CreateStmt, placeOf);
    if ('AlterTableStmt' in node) return this.#alter(node.AlterTableStmt, placeOf);
    if ('IndexStmt' in node) this.#index(node.IndexStmt);
    else if ('RenameStmt' in node) {
      const { relation, newname = '', renameType } = node.RenameStmt;
      if (renameType === 'OBJECT_TABLE') this.#renamed.set(nameOf(relation), newname);
      // Which index is on a column that was called otherwise is not followed.
      if (renameType === 'OBJECT_COLUMN') this.#programmed.add(nameOf(relation));
    } else if ('DropStmt' in node && node.DropStmt.removeType === 'OBJECT_TABLE') {
      for (const object of node.DropStmt.objects ?? [])
        if ('List' in object) this.#gone.add(namesIn(object.List.items).at(-1) ?? '');
    } else if ('TruncateStmt' in node) {
      for (const table of node.TruncateStmt.relations ?? [])
        if ('RangeVar' in table) this.#empty.add(nameOf(table.RangeVar));
    } else if ('DeleteStmt' in node && node.DeleteStmt.whereClause === undefined) {
      this.#empty.add(nameOf(node.DeleteStmt.relation));
    }
    return [];
  }

  #create({ relation, tableElts = [], ...rest }: CreateStmt, placeOf: Place): Candidate[] {
    const table = nameOf(relation);
    this.#empty.add(table);
    if (relation?.relpersistence === 't') return [];
    this.#gone.delete(table);
    const offset = placeOf(relation?.location);
    const names = tableElts.flatMap((one) => ('ColumnDef' in one ? [one.ColumnDef] : []));
    const twice = names.filter(({ colname }, at) => names.findIndex((one) => one.colname === colname) < at);
    const isDerived =
      rest.inhRelations !== undefined ||
      rest.partbound !== undefined ||
      rest.ofTypename !== undefined ||
      tableElts.some((element) => 'TableLikeClause' in element);
    if (isDerived) this.#inherits(table);
    const lacksKeys = this.#constrain(table, tableElts, placeOf);
    return [
      ...twice.map(
        ({ location }): Candidate => ({ rule: 'duplicate-column', offset: placeOf(location), table }),
      ),
      ...lacksKeys,
      ...(names.length > 0 ? [{ rule: 'no-primary-key', offset, table } as const] : []),
    ];
  }

  #alter({ relation, cmds = [] }: AlterTableStmt, placeOf: Place): Candidate[] {
    const table = nameOf(relation);
    return cmds.flatMap((command) => {
      if (!('AlterTableCmd' in command)) return [];
      const { subtype, def } = command.AlterTableCmd;
      if (subtype === 'AT_AttachPartition' && def !== undefined && 'PartitionCmd' in def)
        this.#inherits(nameOf(def.PartitionCmd.name));
      if (subtype === 'AT_AddInherit') this.#inherits(table);
      if (def === undefined || (subtype !== 'AT_AddColumn' && subtype !== 'AT_AddConstraint')) return [];
      const lacking = this.#constrain(table, [def], placeOf);
      if (!('ColumnDef' in def) || !needsValue(def.ColumnDef) || this.#empty.has(table)) return lacking;
      return [
        ...lacking,
        { rule: 'not-null-without-default', offset: placeOf(def.ColumnDef.location), table },
      ];
    });
  }

  /** Remembers the keys of a table, or of one column; says which foreign keys are to be indexed. */
  #constrain(table: string, elements: readonly Node[], placeOf: Place): Candidate[] {
    return constraintsIn(elements).flatMap(({ constraint, column }): Candidate[] => {
      const { contype = '', keys, fk_attrs, location } = constraint;
      const own = column === undefined ? undefined : [column];
      if (KEYS.has(contype)) {
        this.#keyed.add(table);
        const [first] = own ?? namesIn(keys);
        if (first !== undefined) this.#indexed.add(`${table} ${first}`);
      }
      if (contype !== 'CONSTR_FOREIGN') return [];
      const columns = own ?? namesIn(fk_attrs);
      return [{ rule: 'foreign-key-without-index', offset: placeOf(location), table, columns }];
    });
  }

  #index({ relation, indexParams = [], unique }: IndexStmt): void {
    const table = nameOf(relation);
    const [first] = indexParams;
    const column = first !== undefined && 'IndexElem' in first ? first.IndexElem.name : undefined;
    if (column !== undefined) this.#indexed.add(`${table} ${column}`);
    if (unique) this.#keyed.add(table);
  }

  /** It has the keys and indexes of another table. */
  #inherits(table: string): void {
    this.#keyed.add(table);
    this.#indexed.add(`${table} *`);
  }
}

const KEYS = new Set(['CONSTR_PRIMARY', 'CONSTR_UNIQUE', 'CONSTR_EXCLUSION']);

/** Of a table, and of its columns by their names. */
const constraintsIn = (
  elements: readonly Node[],
): { constraint: Constraint; column?: string | undefined }[] =>
  elements.flatMap((element) => {
    if ('Constraint' in element) return [{ constraint: element.Constraint }];
    if (!('ColumnDef' in element)) return [];
    const { constraints = [], colname } = element.ColumnDef;
    return constraints.flatMap((one) =>
      'Constraint' in one ? [{ constraint: one.Constraint, column: colname }] : [],
    );
  });

const FILLED = new Set(['CONSTR_DEFAULT', 'CONSTR_IDENTITY', 'CONSTR_GENERATED']);

/** Whether a column must have a value and gets none by itself. */
function needsValue({ constraints = [], typeName }: ColumnDef): boolean {
  const types = constraints.map((one) => ('Constraint' in one ? one.Constraint.contype : undefined) ?? '');
  const mustHave = types.includes('CONSTR_NOTNULL') || types.includes('CONSTR_PRIMARY');
  const type = namesIn(typeName?.names).at(-1) ?? '';
  return mustHave && !types.some((one) => FILLED.has(one)) && !/serial$/.test(type);
}

const namesIn = (names: readonly Node[] = []): string[] =>
  names.flatMap((name) => ('String' in name ? (name.String.sval ?? []) : []));

const nameOf = (relation: RangeVar | undefined): string => relation?.relname ?? '';
