import type { Insertable, Selectable } from 'kysely';
import type { Taint } from '../../../runtime/protocol/taint.ts';
import type { KnowledgeTable } from '../store/knowledge-tables.ts';
import type { KnowledgeDocument } from './knowledge-document.ts';
import { knowledgeLayerOf, knowledgeRankOf, type KnowledgeLayer } from './knowledge-layer.ts';

/**
 * The file that an item is in.
 *
 * - `hash`   of all that the item was made of.
 * - `commit` that changed the file last; undefined in a folder without git.
 */
export interface KnowledgeOrigin {
  readonly source: string;
  readonly path: string;
  readonly hash: string;
  readonly commit: string | undefined;
}

/**
 * An item as it is kept.
 *
 * - `author`       the id of a principal; of a file, whom git names.
 * - `taint`        where what it says came from outside.
 * - `promotedFrom` the item of a narrower layer that it was made of.
 * - `origin`       undefined for one that was said to the agent.
 * - `updatedAtMs`  of a file, when that was changed.
 * - `version`      1 for the first.
 */
export interface KnowledgeItem extends KnowledgeDocument {
  readonly id: string;
  readonly layer: KnowledgeLayer;
  readonly scope: string;
  readonly author: string | undefined;
  readonly taint: Taint | undefined;
  readonly promotedFrom: string | undefined;
  readonly origin: KnowledgeOrigin | undefined;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  readonly version: number;
}

export function itemOf(row: Selectable<KnowledgeTable>): KnowledgeItem {
  const { source, path, hash } = row;
  return {
    id: row.id,
    type: row.type as KnowledgeItem['type'],
    title: row.title,
    status: row.status as KnowledgeItem['status'],
    layer: knowledgeLayerOf(row.layer),
    scope: row.scope,
    tags: JSON.parse(row.tags) as KnowledgeItem['tags'],
    summary: row.summary ?? undefined,
    severity: (row.severity ?? undefined) as KnowledgeItem['severity'],
    supersedes: JSON.parse(row.supersedes) as KnowledgeItem['supersedes'],
    supersededBy: row.superseded_by ?? undefined,
    constraints: JSON.parse(row.constraints) as KnowledgeItem['constraints'],
    metadata: JSON.parse(row.metadata) as KnowledgeItem['metadata'],
    content: row.content,
    author: row.author ?? undefined,
    taint: row.taint === null ? undefined : (JSON.parse(row.taint) as Taint),
    promotedFrom: row.promoted_from ?? undefined,
    origin:
      source === null || path === null || hash === null
        ? undefined
        : { source, path, hash, commit: row.commit_hash ?? undefined },
    createdAtMs: row.created_at,
    updatedAtMs: row.updated_at,
    version: row.version,
  };
}

export const rowOf = (item: KnowledgeItem, revision: number): Insertable<KnowledgeTable> => ({
  id: item.id,
  type: item.type,
  layer: knowledgeRankOf(item.layer),
  scope: item.scope,
  status: item.status,
  title: item.title,
  summary: item.summary ?? null,
  content: item.content,
  tags: JSON.stringify(item.tags),
  severity: item.severity ?? null,
  constraints: JSON.stringify(item.constraints),
  metadata: JSON.stringify(item.metadata),
  supersedes: JSON.stringify(item.supersedes),
  superseded_by: item.supersededBy ?? null,
  author: item.author ?? null,
  taint: item.taint === undefined ? null : JSON.stringify(item.taint),
  promoted_from: item.promotedFrom ?? null,
  source: item.origin?.source ?? null,
  path: item.origin?.path ?? null,
  hash: item.origin?.hash ?? null,
  commit_hash: item.origin?.commit ?? null,
  created_at: item.createdAtMs,
  updated_at: item.updatedAtMs,
  version: item.version,
  revision,
});
