import { z } from 'zod';
import { Severity } from '../rules/rule.ts';
import { storedTextIfAny } from '../skill-text.ts';
import { Constraints } from './constraint.ts';
import { KnowledgeLayer } from './knowledge-layer.ts';
import { KnowledgeStatus } from './knowledge-status.ts';

/** What kinds of knowledge there are: decisions, rules, ways to do things, descriptions, and what was learnt afterwards. */
export const KnowledgeType = z.enum(['adr', 'policy', 'pattern', 'spec', 'hindsight']);
export type KnowledgeType = z.infer<typeof KnowledgeType>;

const MOST_SUPERSEDED = 20;
const MOST_METADATA = 50;

/** A text on one line, without white space around it. */
const line = (most: number) =>
  storedTextIfAny(most).regex(
    /^\S(?:[^\r\n\u2028\u2029]*\S)?$/,
    'expected one line, without white space around it',
  );

/** The id of an item: no `#`, behind which stands the number of a constraint. */
export const KnowledgeId = z
  .string()
  .max(200)
  .regex(
    /^[\p{L}\p{N}][\p{L}\p{N}._/:@+-]*$/u,
    'expected a letter or digit, and then of these and . _ / : @ + -',
  );

/** Which project, team or organisation an item is of. '' is no particular one. */
export const KnowledgeScope = z.union([z.literal(''), line(200)]);

export const Title = line(300);
export const Tags = z.array(line(100)).max(50).readonly();

/** Whitespace around the text is not part of it. */
const Content = storedTextIfAny(200_000).overwrite((content) =>
  content.replace(/^(?:[^\S\n]*\n)+/, '').trimEnd(),
);

/**
 * What an item says, wherever it is kept.
 *
 * - `id`           @default given when it is kept; of a file its path
 * - `layer`        @default that of its source, or 'project'; `scope` likewise, or ''
 * - `content`      Markdown.
 * - `severity`     how bad it is to violate a constraint that does not say so itself.
 * - `supersedes`   ids of items that hold no more when this one is accepted.
 * - `supersededBy` id of the item that holds in its place when that one is accepted.
 * - `metadata`     what else is to be known of it.
 */
export const KnowledgeDocument = z.strictObject({
  id: KnowledgeId.optional(),
  type: KnowledgeType,
  title: Title,
  status: KnowledgeStatus.default('draft'),
  layer: KnowledgeLayer.optional(),
  scope: KnowledgeScope.optional(),
  tags: Tags.default([]),
  summary: line(1_000).optional(),
  severity: Severity.optional(),
  supersedes: z.array(KnowledgeId).max(MOST_SUPERSEDED).readonly().default([]),
  supersededBy: KnowledgeId.optional(),
  constraints: Constraints.default([]),
  metadata: z
    .record(
      z.string().regex(/^[A-Za-z][\w.-]{0,63}$/, 'expected a letter, and then letters, digits, and . _ -'),
      z.union([storedTextIfAny(1_000), z.number(), z.boolean(), z.array(storedTextIfAny(1_000)).max(50)]),
    )
    .refine(
      (metadata) => Object.keys(metadata).length <= MOST_METADATA,
      `expected at most ${MOST_METADATA} fields`,
    )
    .default({}),
  content: Content.default(''),
});
export type KnowledgeDocument = Readonly<z.infer<typeof KnowledgeDocument>>;
