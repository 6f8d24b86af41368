import type { GovernanceTables } from './governance-tables.ts';
import type { KnowledgeTables } from './knowledge-tables.ts';
import type { MemoryTables } from './memory-tables.ts';
import type { Table } from './table.ts';

/**
 * The tables as queries see them. Each has a column `tenant` beside, with which its keys begin, and which no query names:
 * `TenantScope` does. Times are Unix milliseconds; what is JSON is text.
 */
export interface SkillTables extends MemoryTables, KnowledgeTables, GovernanceTables {
  readonly tenants: TenantTable;
}

/** - `revision` how often what the tenant remembers was changed: readers find by it what is new to them. - `memories` how many there are. */
export interface TenantTable {
  readonly revision: number;
  readonly memories: number;
}

export const TENANT_TABLES: readonly Table[] = [
  {
    name: 'tenants',
    columns: [
      ['revision', 'bigint'],
      ['memories', 'bigint'],
    ],
    key: [],
  },
];
