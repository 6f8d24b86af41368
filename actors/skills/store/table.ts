import type { ColumnDataType } from 'kysely';
import type { SkillTables } from './skill-tables.ts';

export type Columns = readonly (readonly [name: string, type: ColumnDataType, isOptional?: 'optional'])[];

/** A table of many tenants: its key begins with whose a row is, and so does each index. */
export interface Table {
  readonly name: keyof SkillTables;
  readonly columns: Columns;
  /** The columns that tell the rows of one tenant apart. */
  readonly key: readonly string[];
  readonly indexes?: readonly (readonly string[])[];
}

/** The types that databases call by different names. */
export interface ColumnTypes {
  readonly bytes: ColumnDataType;
}
