import { z } from 'zod';
import { capability } from '../../../runtime/protocol/capability.ts';
import { StoredName, StoredTag, storedText } from '../skill-text.ts';
import { MemoryLayer } from './memory-layer.ts';

/** UTF-16 code units of a memory. */
export const MOST_CONTENT = 32_768;
const MOST_QUERY = 4_096;
const MOST_METADATA = 8_192;
const MOST_TAGS = 32;
const MOST_FOUND = 100;
const MOST_LISTED = 500;

const Content = storedText(MOST_CONTENT);
const Tags = z.array(StoredTag).max(MOST_TAGS).readonly();
const Layers = z.array(MemoryLayer).min(1).max(MemoryLayer.options.length).readonly();
/** Unix milliseconds. */
const Moment = z.int().nonnegative();
const Metadata = z
  .record(z.string().max(200), z.json())
  .refine(
    (fields) => JSON.stringify(fields).length <= MOST_METADATA,
    `at most ${MOST_METADATA} characters of JSON`,
  );
const Id = z.string().min(1).max(200);

/** Which memory is meant. All three names are taken; answers say `memory_id`. */
const MemoryId = { memory_id: Id.optional(), id: Id.optional(), memoryId: Id.optional() };
export interface NamedMemory {
  readonly memory_id?: string | undefined;
  readonly id?: string | undefined;
  readonly memoryId?: string | undefined;
}

/**
 * A memory as callers see it.
 *
 * - `scope`      which agent, session, project, team or organisation of its layer.
 * - `subject`    what it says something about: of entries that say different things about one subject the more specific counts.
 * - `validFrom`, `validUntil`, `createdAt` Unix milliseconds.
 * - `updatedAt`  when it came to say what it says, Unix milliseconds.
 * - `taint`      where it came from outside.
 */
export const Memory = z.strictObject({
  memory_id: Id,
  content: z.string(),
  layer: MemoryLayer,
  scope: z.string(),
  subject: z.string().optional(),
  tags: z.array(z.string()),
  importance: z.number(),
  metadata: z.record(z.string(), z.json()).optional(),
  author: z.string(),
  validFrom: Moment.optional(),
  validUntil: Moment.optional(),
  createdAt: Moment,
  updatedAt: Moment,
  version: z.int().positive(),
  taint: z.array(z.string()).optional(),
});
export type Memory = z.infer<typeof Memory>;

/** What is there beside a new entry: `contradicts` says something else about its subject, `similar` says about the same. */
const Noticed = {
  contradicts: z.array(
    Memory.pick({ memory_id: true, layer: true, scope: true, content: true, taint: true }),
  ),
  similar: z.array(z.strictObject({ memory_id: Id, similarity: z.number() })),
};

export const memoryAdd = capability({
  id: 'memory_add',
  name: 'Remember',
  description:
    'Remembers a text. The same text in the same layer and scope is kept once; what says nearly the same, or something else about the same subject, is named',
  input: z.strictObject({
    content: Content,
    layer: MemoryLayer.default('user'),
    scope: StoredName.optional(),
    subject: StoredName.optional(),
    tags: Tags.default([]),
    importance: z.number().min(0).max(1).default(0.5),
    metadata: Metadata.optional(),
    validFrom: Moment.optional(),
    validUntil: Moment.optional(),
  }),
  output: z.strictObject({
    success: z.literal(true),
    memory_id: Id,
    layer: MemoryLayer,
    scope: z.string(),
    duplicate: z.boolean(),
    message: z.string(),
    ...Noticed,
  }),
  idempotent: true,
});

export const memorySearch = capability({
  id: 'memory_search',
  name: 'Recall',
  description:
    'Finds memories by words and by meaning, the most relevant first. One that a more specific layer contradicts is marked as shadowed',
  input: z.strictObject({
    query: storedText(MOST_QUERY),
    limit: z.int().min(1).max(MOST_FOUND).default(10),
    layers: Layers.optional(),
    layer: MemoryLayer.optional(),
    scope: StoredName.optional(),
    tags: Tags.optional(),
    minScore: z.number().min(0).max(2).optional(),
    withShadowed: z
      .boolean()
      .optional()
      .describe('Also those that a more specific layer contradicts; true where nothing is said'),
    at: Moment.optional(),
  }),
  output: z.strictObject({
    success: z.literal(true),
    results: z.array(
      Memory.extend({
        score: z.number(),
        signals: z.strictObject({ text: z.number(), vector: z.number().nullable() }),
        shadowed: z.boolean(),
        shadowedBy: Id.optional(),
      }),
    ),
    totalCount: z.int().nonnegative(),
    searchedLayers: z.array(MemoryLayer),
    embedding: z.string().nullable(),
  }),
  readOnly: true,
});

export const memoryGet = capability({
  id: 'memory_get',
  name: 'Look up a memory',
  description: 'Gives one memory whole, and what it said before if that is asked for',
  input: z.strictObject({ ...MemoryId, history: z.boolean().default(false) }),
  output: z.strictObject({
    success: z.literal(true),
    memory: Memory,
    history: z
      .array(
        z.strictObject({
          version: z.int().positive(),
          content: z.string(),
          author: z.string(),
          writtenAt: Moment,
        }),
      )
      .optional(),
  }),
  readOnly: true,
});

const Page = {
  after: z.string().min(1).max(400).optional(),
  limit: z.int().min(1).max(MOST_LISTED).default(100),
};

export const memoryList = capability({
  id: 'memory_list',
  name: 'List memories',
  description:
    'Lists memories, the oldest first, a page at a time: `after` is what the page before gave as `next`',
  input: z.strictObject({
    layers: Layers.optional(),
    scope: StoredName.optional(),
    subject: StoredName.optional(),
    tags: Tags.optional(),
    ...Page,
  }),
  output: z.strictObject({
    success: z.literal(true),
    memories: z.array(Memory),
    next: z.string().optional(),
  }),
  readOnly: true,
});

export const memoryUpdate = capability({
  id: 'memory_update',
  name: 'Change a memory',
  description:
    'Changes a memory, by its id or its subject. What it said before is kept. Asks which one is meant, and what it is to say, where that is missing',
  input: z.strictObject({
    ...MemoryId,
    subject: StoredName.optional(),
    content: Content.optional(),
    tags: Tags.optional(),
    importance: z.number().min(0).max(1).optional(),
    metadata: Metadata.optional(),
    validFrom: Moment.nullable().optional(),
    validUntil: Moment.nullable().optional(),
  }),
  output: z.strictObject({
    success: z.literal(true),
    memory_id: Id,
    version: z.int().positive(),
    message: z.string(),
    ...Noticed,
  }),
  idempotent: true,
});

export const memoryDelete = capability({
  id: 'memory_delete',
  name: 'Forget',
  description: 'Removes a memory with all that it said before',
  input: z.strictObject(MemoryId),
  output: z.strictObject({ success: z.literal(true), memory_id: Id, message: z.string() }),
  destructive: true,
  idempotent: true,
});

export const memoryExport = capability({
  id: 'memory_export',
  name: 'Export memories',
  description: 'Gives all memories that the caller may see with what they said before, a page at a time',
  input: z.strictObject(Page),
  output: z.strictObject({
    success: z.literal(true),
    memories: z.array(
      Memory.extend({
        history: z.array(
          z.strictObject({
            version: z.int().positive(),
            content: z.string(),
            author: z.string(),
            writtenAt: Moment,
          }),
        ),
      }),
    ),
    next: z.string().optional(),
  }),
  readOnly: true,
});
