import type { Table } from './table.ts';

/** What is known. */
export interface KnowledgeTables {
  readonly knowledge: KnowledgeTable;
  readonly knowledge_versions: KnowledgeVersionTable;
  readonly removed_knowledge: RemovedKnowledgeTable;
  readonly knowledge_revisions: KnowledgeRevisionTable;
}

/**
 * - `layer`         1, a project's, to 4, the company's.
 * - `scope`         which project, team or organisation; '' none in particular.
 * - `tags`, `constraints`, `metadata`, `supersedes`, `taint` JSON.
 * - `author`        the id of a principal; of what a source has, whom git names.
 * - `promoted_from` the id of the item of a narrower layer that this one was made of.
 * - `source`, `path` the file that it is in; null where it was said to the agent.
 * - `hash`          of the file, and what else the item was made of: what has the same is not read again.
 * - `commit_hash`   the commit that changed the file last.
 * - `updated_at`    of what a source has, when the file was changed.
 * - `revision`      of the tenant's knowledge when it was last changed. No other item has the same.
 */
export interface KnowledgeTable {
  readonly id: string;
  readonly type: string;
  readonly layer: number;
  readonly scope: string;
  readonly status: string;
  readonly title: string;
  readonly summary: string | null;
  readonly content: string;
  readonly tags: string;
  readonly severity: string | null;
  readonly constraints: string;
  readonly metadata: string;
  readonly supersedes: string;
  readonly superseded_by: string | null;
  readonly author: string | null;
  readonly taint: string | null;
  readonly promoted_from: string | null;
  readonly source: string | null;
  readonly path: string | null;
  readonly hash: string | null;
  readonly commit_hash: string | null;
  readonly created_at: number;
  readonly updated_at: number;
  readonly version: number;
  readonly revision: number;
}

/** What an item said before it was changed. `taint` JSON. */
export interface KnowledgeVersionTable {
  readonly id: string;
  readonly version: number;
  readonly status: string;
  readonly title: string;
  readonly content: string;
  readonly author: string | null;
  readonly taint: string | null;
  readonly commit_hash: string | null;
  readonly updated_at: number;
}

/** Items that are gone, for readers that may still know them. */
export interface RemovedKnowledgeTable {
  readonly id: string;
  readonly revision: number;
}

/** - `revision` how often an item of the tenant was changed: readers find by it what is new to them. - `items` how many there are. */
export interface KnowledgeRevisionTable {
  readonly revision: number;
  readonly items: number;
}

export const KNOWLEDGE_TABLES: readonly Table[] = [
  {
    name: 'knowledge',
    columns: [
      ['id', 'text'],
      ['type', 'text'],
      ['layer', 'integer'],
      ['scope', 'text'],
      ['status', 'text'],
      ['title', 'text'],
      ['summary', 'text', 'optional'],
      ['content', 'text'],
      ['tags', 'text'],
      ['severity', 'text', 'optional'],
      ['constraints', 'text'],
      ['metadata', 'text'],
      ['supersedes', 'text'],
      ['superseded_by', 'text', 'optional'],
      ['author', 'text', 'optional'],
      ['taint', 'text', 'optional'],
      ['promoted_from', 'text', 'optional'],
      ['source', 'text', 'optional'],
      ['path', 'text', 'optional'],
      ['hash', 'text', 'optional'],
      ['commit_hash', 'text', 'optional'],
      ['created_at', 'bigint'],
      ['updated_at', 'bigint'],
      ['version', 'integer'],
      ['revision', 'bigint'],
    ],
    key: ['id'],
    indexes: [['revision'], ['source'], ['promoted_from']],
  },
  {
    name: 'knowledge_versions',
    columns: [
      ['id', 'text'],
      ['version', 'integer'],
      ['status', 'text'],
      ['title', 'text'],
      ['content', 'text'],
      ['author', 'text', 'optional'],
      ['taint', 'text', 'optional'],
      ['commit_hash', 'text', 'optional'],
      ['updated_at', 'bigint'],
    ],
    key: ['id', 'version'],
  },
  {
    name: 'removed_knowledge',
    columns: [
      ['id', 'text'],
      ['revision', 'bigint'],
    ],
    key: ['id'],
    indexes: [['revision']],
  },
  {
    name: 'knowledge_revisions',
    columns: [
      ['revision', 'bigint'],
      ['items', 'bigint'],
    ],
    key: [],
  },
];
