import { z } from 'zod';
import { FreshJson, FreshJsonFields, JsonFields, JsonValue } from './json-value.ts';

/**
 * The state of a task, as A2A names it.
 *
 * - `submitted`      it is accepted, and nobody has begun.
 * - `working`        its agent works at it, or will do so next.
 * - `input-required` its agent waits for its owner's next message.
 * - `auth-required`  its agent waits for a proof from its owner.
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

/** Whether the task is over: nothing changes any more. */
export const isTaskOver = (state: TaskState): boolean => OVER.has(state);

/** Whether the task waits for its owner. */
export const isTaskInterrupted = (state: TaskState): boolean => INTERRUPTED.has(state);

/** Schemas for JSON that is copied, or taken as it is. */
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

/** One part of a message or artifact: exactly one of text, `raw` (bytes in base64), `url` and `data` (JSON). */
export const Part = partWith(COPIED);
export type Part = z.infer<typeof Part>;

/** A message of the task's owner or agent. Its sender chooses `messageId`: the same id again is the same message. */
export const TaskMessage = messageOf(Part, COPIED);
export type TaskMessage = z.infer<typeof TaskMessage>;

/** As `TaskMessage`, for one that nobody else keeps: its JSON is checked, and not copied. */
export const FreshTaskMessage = messageOf(partWith(FRESH), FRESH);

/** A result that a task has made. */
export const Artifact = z.strictObject({
  artifactId: z.string().min(1),
  name: z.string().optional(),
  description: z.string().optional(),
  parts: z.array(Part),
  metadata: JsonFields.optional(),
  extensions: z.array(z.string()).optional(),
});
export type Artifact = z.infer<typeof Artifact>;

/** The status of a task. `atMs`: since when, Unix milliseconds. */
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
 * - `history`    the messages, oldest first.
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
 * - `status`   its status has changed, or has a new message. `begins`: its agent begins on this message; `ends`: it is done with it.
 * - `message`  its owner has sent a message.
 * - `artifact` there is a new artifact, or with `append` more of one.
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
