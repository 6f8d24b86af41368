import { z } from 'zod';

/**
 * How far an item has come.
 *
 * - `draft`      somebody works at it.
 * - `proposed`   it is to be decided on.
 * - `accepted`   it holds: it alone is found unless another status is asked for, and it alone is checked.
 * - `deprecated` it should not be followed any more.
 * - `superseded` another item holds in its place.
 * - `rejected`   it was decided against.
 */
export const KnowledgeStatus = z.enum([
  'draft',
  'proposed',
  'accepted',
  'deprecated',
  'superseded',
  'rejected',
]);
export type KnowledgeStatus = z.infer<typeof KnowledgeStatus>;

/** What may follow each status. Nothing holds before it was proposed, and what was superseded never holds again. */
export const NEXT_STATUS: Readonly<Record<KnowledgeStatus, readonly KnowledgeStatus[]>> = {
  draft: ['proposed', 'rejected'],
  proposed: ['draft', 'accepted', 'rejected'],
  accepted: ['deprecated', 'superseded'],
  deprecated: ['accepted', 'superseded'],
  rejected: ['draft'],
  superseded: [],
};

/** What an author may do alone; everything else is a decision of the layer. */
const OF_AUTHORS: ReadonlySet<KnowledgeStatus> = new Set(['draft', 'proposed']);

/** Whether a change of status decides what holds in a layer, or what does not. */
export const isDecision = (from: KnowledgeStatus, to: KnowledgeStatus): boolean =>
  !OF_AUTHORS.has(from) || !OF_AUTHORS.has(to);
