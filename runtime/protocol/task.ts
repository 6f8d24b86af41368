import { z } from 'zod';
import { FreshJson, FreshJsonFields, JsonFields, JsonValue } from './json-value.ts';

/**
 * The state of a task, as A2A names it.
 *
 * - `submitted`      it is accepted, and nobody has begun.
 * - `working`        its agent is at it, or will be next.
 * - `input-required` its agent waits for its owner's next message; `auth-required`: which proves something.
 * - the others       it is over, and stays as it is.
 */
export const TASK_STATES = [
  'submitted',
  'working',
  'input-required',
  'auth-required',
  'completed',
  'failed',
  'canceled',
  'rejected',
] as const;
export const TaskState = z.enum(TASK_STATES);
export type TaskState = z.infer<typeof TaskState>;

const OVER: ReadonlySet<TaskState> = new Set(['completed', 'failed', 'canceled', 'rejected']);
const INTERRUPTED: ReadonlySet<TaskState> = new Set(['input-required', 'auth-required']);

/** Nothing changes any more. */
export const isTaskOver = (state: TaskState): boolean => OVER.has(state);

/** Its owner is to say something. */
export const isTaskInterrupted = (state: TaskState): boolean => INTERRUPTED.has(state);

/** How JSON is taken over: as a copy, or as it is. */
interface JsonSchemas {
  readonly value: typeof JsonValue;
  readonly fields: typeof JsonFields;
}

function partWith({ value, fields }: JsonSchemas) {
  const facts = {
    mediaType: z.string().optional(),
    filename: z.string().optional(),
    metadata: fields.optional(),
  };
  return z.union([
    z.strictObject({ text: z.string(), ...facts }),
    z.strictObject({ raw: z.base64(), ...facts }),
    z.strictObject({ url: z.url(), ...facts }),
    z.strictObject({ data: value, ...facts }),
  ]);
}

const messageOf = (part: typeof Part, { fields }: JsonSchemas) =>
  z.strictObject({
    messageId: z.string().min(1),
    role: z.enum(['user', 'agent']),
    parts: z.array(part).min(1),
    metadata: fields.optional(),
    extensions: z.array(z.string()).optional(),
    referenceTaskIds: z.array(z.string()).optional(),
  });

const COPIED: JsonSchemas = { value: JsonValue, fields: JsonFields };
const FRESH: JsonSchemas = { value: FreshJson, fields: FreshJsonFields };

/** One piece of what is said or made: exactly one of text, `raw` (bytes in base64), `url` and `data` (JSON). */
export const Part = partWith(COPIED);
export type Part = z.infer<typeof Part>;

/** What its owner or its agent says. `messageId` is its sender's: the same one again is the same message. */
export const TaskMessage = messageOf(Part, COPIED);
export type TaskMessage = z.infer<typeof TaskMessage>;

/** As `TaskMessage`, of what nobody else keeps: its JSON is looked through, and not copied. */
export const FreshTaskMessage = messageOf(partWith(FRESH), FRESH);

/** What a task has made. */
export const Artifact = z.strictObject({
  artifactId: z.string().min(1),
  name: z.string().optional(),
  description: z.string().optional(),
  parts: z.array(Part),
  metadata: JsonFields.optional(),
  extensions: z.array(z.string()).optional(),
});
export type Artifact = z.infer<typeof Artifact>;

/** `atMs`: since when, Unix milliseconds. */
export const TaskStatus = z.strictObject({
  state: TaskState,
  message: TaskMessage.optional(),
  atMs: z.number(),
});
export type TaskStatus = z.infer<typeof TaskStatus>;

/**
 * A piece of work that outlives any one request for it.
 *
 * - `contextId`  of the conversation that it belongs to.
 * - `generation` how many changes it has had: the last one's number.
 * - `history`    what was said, oldest first.
 */
export const Task = z.strictObject({
  id: z.string().min(1),
  contextId: z.string().min(1),
  status: TaskStatus,
  artifacts: z.array(Artifact),
  history: z.array(TaskMessage),
  metadata: JsonFields.optional(),
  generation: z.int().nonnegative(),
  createdAtMs: z.number(),
});
export type Task = z.infer<typeof Task>;

/**
 * One step of a task; the steps of a task have dense numbers from 1 on.
 *
 * - `status`   it stands elsewhere, or says something about where it stands; `begins`: its agent begins on this message; `ends`: it is done
 *              with it.
 * - `message`  something was said to it.
 * - `artifact` a new one, or with `append` more of one.
 */
export const TaskChange = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('status'),
    generation: z.int().positive(),
    atMs: z.number(),
    state: TaskState,
    message: TaskMessage.optional(),
    begins: z.string().optional(),
    ends: z.string().optional(),
  }),
  z.strictObject({
    kind: z.literal('message'),
    generation: z.int().positive(),
    atMs: z.number(),
    message: TaskMessage,
  }),
  z.strictObject({
    kind: z.literal('artifact'),
    generation: z.int().positive(),
    atMs: z.number(),
    artifact: Artifact,
    append: z.boolean(),
    lastChunk: z.boolean(),
  }),
]);
export type TaskChange = z.infer<typeof TaskChange>;
