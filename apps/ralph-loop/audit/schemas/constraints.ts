import type { ColumnDef, Constraint } from 'libpg-query';
import type { SqlNode } from './parse-sql.ts';

/**
 * What the constraints of a table, or of one column, come to.
 *
 * - `keys`         the columns of each primary or unique key; none written out when it uses an index.
 * - `foreignKeys`  the columns of each, and where it stands in the statement.
 */
export interface Constraints {
  readonly keys: readonly (readonly string[])[];
  readonly foreignKeys: readonly {
    readonly columns: readonly string[];
    readonly location: number | undefined;
  }[];
}

const KEYS = new Set(['CONSTR_PRIMARY', 'CONSTR_UNIQUE', 'CONSTR_EXCLUSION']);

/** Of column definitions and table constraints. */
export function constraintsOf(elements: readonly SqlNode[]): Constraints {
  const keys: string[][] = [];
  const foreignKeys: { columns: string[]; location: number | undefined }[] = [];
  const read = (constraint: Constraint, column?: string): void => {
    const own = column === undefined ? [] : [column];
    if (KEYS.has(constraint.contype ?? '')) keys.push(column === undefined ? namesIn(constraint.keys) : own);
    else if (constraint.contype === 'CONSTR_FOREIGN') {
      const columns = column === undefined ? namesIn(constraint.fk_attrs) : own;
      foreignKeys.push({ columns, location: constraint.location });
    }
  };
  for (const element of elements) {
    if ('Constraint' in element) read(element.Constraint);
    if (!('ColumnDef' in element)) continue;
    for (const one of element.ColumnDef.constraints ?? []) {
      if ('Constraint' in one) read(one.Constraint, element.ColumnDef.colname);
    }
  }
  return { keys, foreignKeys };
}

const namesIn = (names: readonly SqlNode[] = []): string[] =>
  names.flatMap((name) => ('String' in name ? (name.String.sval ?? []) : []));

const FILLED = new Set(['CONSTR_DEFAULT', 'CONSTR_IDENTITY', 'CONSTR_GENERATED']);

/** Whether a column must have a value and gets none by itself. */
export function needsValue({ constraints = [], typeName }: ColumnDef): boolean {
  const types = constraints.map((one) => ('Constraint' in one ? one.Constraint.contype : undefined) ?? '');
  const type = namesIn(typeName?.names).at(-1) ?? '';
  const mustHave = types.includes('CONSTR_NOTNULL') || types.includes('CONSTR_PRIMARY');
  return mustHave && !types.some((one) => FILLED.has(one)) && !/serial$/.test(type);
}
