import { invalidPayload } from '../../../runtime/protocol/errors.ts';
import type { KnowledgeType } from './knowledge-document.ts';
import type { KnowledgeLayer } from './knowledge-layer.ts';
import type { KnowledgeStatus } from './knowledge-status.ts';
import type { KnowledgeView, KnownItem } from './knowledge-view.ts';

/**
 * What is looked for. Of what is undefined any is meant.
 *
 * - `query`  words. @default all that there is, the newest first
 * - `tags`   each of them.
 * - `cursor` of the page before.
 */
export interface KnowledgeQuery {
  readonly query?: string | undefined;
  readonly type?: KnowledgeType | undefined;
  readonly layer?: KnowledgeLayer | undefined;
  readonly scope?: string | undefined;
  readonly status: KnowledgeStatus;
  readonly tags?: readonly string[] | undefined;
  readonly limit: number;
  readonly cursor?: string | undefined;
}

/** - `totalCount` of all pages. - `cursor` of the next page; undefined on the last. */
export interface KnowledgePage {
  readonly found: readonly FoundItem[];
  readonly totalCount: number;
  readonly cursor: string | undefined;
}

/** - `score` 0 to 1; 0 where no words were asked for. */
export interface FoundItem {
  readonly item: KnownItem;
  readonly score: number;
}

/** The items that fit best, the best first; of those that fit alike the newest. Throws INVALID_PAYLOAD for what is no cursor. */
export function queryKnowledge(view: KnowledgeView, wanted: KnowledgeQuery): KnowledgePage {
  const { query = '', limit, cursor } = wanted;
  const hasWords = query.trim() !== '';
  const scores = hasWords ? view.scores(query) : undefined;
  const fits = fitsOf(view, wanted);
  const found: FoundItem[] = [];
  for (const item of view.items) {
    const score = scores?.[item.place] ?? 0;
    if ((score > 0 || !hasWords) && fits(item)) found.push({ item, score });
  }
  found.sort(byRelevance);
  const from = cursor === undefined ? 0 : placeBehind(found, cursor);
  const page = found.slice(from, from + limit);
  const last = page.at(-1);
  const hasMore = last !== undefined && from + limit < found.length;
  return { found: page, totalCount: found.length, cursor: hasMore ? cursorOf(last) : undefined };
}

function fitsOf(view: KnowledgeView, { type, layer, scope, status, tags = [] }: KnowledgeQuery) {
  return (item: KnownItem): boolean =>
    (type === undefined || item.type === type) &&
    (layer === undefined || item.layer === layer) &&
    (scope === undefined || item.scope === scope) &&
    tags.every((tag) => item.tags.includes(tag)) &&
    view.statusOf(item) === status;
}

/** Where an item stands among what was found. */
type Place = readonly [score: number, updatedAtMs: number, revision: number];

const byRelevance = ({ score, item }: FoundItem, other: FoundItem): number =>
  other.score - score || other.item.updatedAtMs - item.updatedAtMs || other.item.revision - item.revision;

/** Whether one that was found stands behind a place. */
const isBehind = ({ score, item }: FoundItem, [above, beforeMs, revision]: Place): boolean =>
  (above - score || beforeMs - item.updatedAtMs || revision - item.revision) > 0;

const cursorOf = ({ score, item }: FoundItem): string =>
  Buffer.from(JSON.stringify([score, item.updatedAtMs, item.revision] satisfies Place)).toString('base64url');

/** How many stand before the page: also when the item at the end of the last one is gone. */
function placeBehind(found: readonly FoundItem[], cursor: string): number {
  const after = readCursor(cursor);
  const next = found.findIndex((one) => isBehind(one, after));
  return next === -1 ? found.length : next;
}

function readCursor(cursor: string): Place {
  try {
    const place: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
    if (isPlace(place)) return place;
  } catch {
    // It is none.
  }
  throw invalidPayload(
    'knowledge_query',
    `cursor is ${JSON.stringify(cursor)}, expected that of a former answer`,
  );
}

const isPlace = (place: unknown): place is Place =>
  Array.isArray(place) && place.length === 3 && place.every((part) => typeof part === 'number');
