import type { Selectable } from 'kysely';
import type { z } from 'zod';
import { mergeTaint, Taint } from '../../../runtime/protocol/taint.ts';
import type { MemoryTable } from '../store/memory-tables.ts';
import type { Memory } from './memory-capabilities.ts';
import type { IndexedMemory } from './memory-index.ts';
import { layerOf } from './memory-layer.ts';

/* A row of the store as the rest of the room has it. What is JSON in it was written here. */

type Row = Selectable<MemoryTable>;

/** The columns that an index needs. */
export const INDEXED = [
  'id',
  'layer',
  'owner',
  'scope',
  'content',
  'hash',
  'subject',
  'tags',
  'updated_at',
  'valid_from',
  'valid_until',
  'revision',
] as const satisfies readonly (keyof Row)[];

export const indexedOf = (row: Pick<Row, (typeof INDEXED)[number]>): IndexedMemory => ({
  id: row.id,
  layer: row.layer,
  owner: row.owner,
  scope: row.scope,
  hash: row.hash,
  subject: row.subject,
  tags: tagsOf(row),
  updatedAtMs: row.updated_at,
  validFromMs: row.valid_from,
  validUntilMs: row.valid_until,
});

export const tagsOf = ({ tags }: Pick<Row, 'tags'>): string[] =>
  tags === NO_TAGS ? [] : (JSON.parse(tags) as string[]);

const NO_TAGS = '[]';

export const taintOf = ({ taint }: Pick<Row, 'taint'>): Taint | undefined =>
  taint === null ? undefined : Taint.parse(JSON.parse(taint));

/** The column of what has come from outside, and of what now adds to it. */
export function mergedTaint(before: string | null, added: Taint | undefined): string | null {
  const merged = mergeTaint(taintOf({ taint: before }), added);
  return merged === undefined ? null : JSON.stringify(merged);
}

/** A memory as its callers see it. */
export function memoryOf(row: Row): Memory {
  const taint = taintOf(row);
  return {
    memory_id: row.id,
    content: row.content,
    layer: layerOf(row.layer),
    scope: row.scope,
    ...(row.subject === null ? {} : { subject: row.subject }),
    tags: tagsOf(row),
    importance: row.importance,
    ...(row.metadata === null
      ? {}
      : { metadata: JSON.parse(row.metadata) as z.infer<typeof Memory>['metadata'] }),
    author: row.author,
    ...(row.valid_from === null ? {} : { validFrom: row.valid_from }),
    ...(row.valid_until === null ? {} : { validUntil: row.valid_until }),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    version: row.version,
    ...(taint === undefined ? {} : { taint: [...taint] }),
  };
}
