import type { ColumnTypes, Table } from './table.ts';

/** What is remembered. */
export interface MemoryTables {
  readonly memories: MemoryTable;
  readonly memory_versions: MemoryVersionTable;
  readonly memory_vectors: MemoryVectorTable;
  readonly removed_memories: RemovedMemoryTable;
}

/**
 * - `layer`        1, an agent's, to 7, the company's.
 * - `owner`        the principal that alone sees it; '' for what is of all.
 * - `scope`        which of its layer: which agent, session, project, team or organisation.
 * - `hash`         of the content: the same text is not kept twice.
 * - `subject`      what it is about; entries that say different things about one subject contradict each other.
 * - `tags`, `metadata`, `taint` JSON.
 * - `valid_from`, `valid_until` when it holds.
 * - `revision`     that of the tenant when it was last changed.
 */
export interface MemoryTable {
  readonly id: string;
  readonly layer: number;
  readonly owner: string;
  readonly scope: string;
  readonly content: string;
  readonly hash: string;
  readonly subject: string | null;
  readonly tags: string;
  readonly importance: number;
  readonly metadata: string | null;
  readonly taint: string | null;
  readonly author: string;
  readonly valid_from: number | null;
  readonly valid_until: number | null;
  readonly created_at: number;
  readonly updated_at: number;
  readonly version: number;
  readonly revision: number;
}

/** What an entry said before it was changed. */
export interface MemoryVersionTable {
  readonly id: string;
  readonly version: number;
  readonly content: string;
  readonly author: string;
  readonly written_at: number;
}

/** - `vector` as `vectorToBytes` writes it, made by `model`. */
export interface MemoryVectorTable {
  readonly id: string;
  readonly model: string;
  readonly vector: Uint8Array;
  readonly revision: number;
}

/** Entries that are gone, for readers that may still know them. */
export interface RemovedMemoryTable {
  readonly id: string;
  readonly layer: number;
  readonly owner: string;
  readonly scope: string;
  readonly revision: number;
}

export const memoryTables = ({ bytes }: ColumnTypes): readonly Table[] => [
  {
    name: 'memories',
    columns: [
      ['id', 'text'],
      ['layer', 'integer'],
      ['owner', 'text'],
      ['scope', 'text'],
      ['content', 'text'],
      ['hash', 'text'],
      ['subject', 'text', 'optional'],
      ['tags', 'text'],
      ['importance', 'double precision'],
      ['metadata', 'text', 'optional'],
      ['taint', 'text', 'optional'],
      ['author', 'text'],
      ['valid_from', 'bigint', 'optional'],
      ['valid_until', 'bigint', 'optional'],
      ['created_at', 'bigint'],
      ['updated_at', 'bigint'],
      ['version', 'integer'],
      ['revision', 'bigint'],
    ],
    key: ['id'],
    indexes: [['revision'], ['hash'], ['created_at', 'id']],
  },
  {
    name: 'memory_versions',
    columns: [
      ['id', 'text'],
      ['version', 'integer'],
      ['content', 'text'],
      ['author', 'text'],
      ['written_at', 'bigint'],
    ],
    key: ['id', 'version'],
  },
  {
    name: 'memory_vectors',
    columns: [
      ['id', 'text'],
      ['model', 'text'],
      ['vector', bytes],
      ['revision', 'bigint'],
    ],
    key: ['id'],
    indexes: [['revision']],
  },
  {
    name: 'removed_memories',
    columns: [
      ['id', 'text'],
      ['layer', 'integer'],
      ['owner', 'text'],
      ['scope', 'text'],
      ['revision', 'bigint'],
    ],
    key: ['id'],
    indexes: [['revision']],
  },
];
