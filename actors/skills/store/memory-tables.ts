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
 * - `scope`        whose of this layer it is: an agent, a user, a session, a project, a team, an organisation.
 * - `hash`         of the content: the same text is not kept twice.
 * - `subject`      what it is about; entries that say different things about one subject contradict each other.
 * - `tags`, `metadata`, `taint` JSON.
 * - `valid_from`, `valid_until` when it holds.
 * - `revision`     that of the tenant when it was last changed.
 */
export interface MemoryTable {
  readonly id: string;
  readonly layer: number;
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

/** - `vector` as `vectorToBlob` writes it, made by `model`. */
export interface MemoryVectorTable {
  readonly id: string;
  readonly model: string;
  readonly vector: Uint8Array;
}

/** Entries that are gone, for readers that may still know them. */
export interface RemovedMemoryTable {
  readonly id: string;
  readonly layer: number;
  readonly scope: string;
  readonly revision: number;
}

export const memoryTables = ({ bytes }: ColumnTypes): readonly Table[] => [
  {
    name: 'memories',
    columns: [
      ['id', 'text'],
      ['layer', 'integer'],
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
    indexes: [['revision'], ['layer', 'scope', 'hash'], ['subject']],
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
    ],
    key: ['id'],
  },
  {
    name: 'removed_memories',
    columns: [
      ['id', 'text'],
      ['layer', 'integer'],
      ['scope', 'text'],
      ['revision', 'bigint'],
    ],
    key: ['id'],
    indexes: [['revision']],
  },
];
