import fc from 'fast-check';
import {
  type Artifact,
  type Part,
  type Task,
  TASK_STATES,
  type TaskMessage,
} from '../../../runtime/protocol/task.ts';
import type { StreamItem } from '../../../gateway/a2a/wire/operations.ts';

/** No `__proto__`: the schemas leave it out wherever it stands. */
const arbName = (): fc.Arbitrary<string> =>
  fc.stringMatching(/^[A-Za-z0-9 _.-]{1,12}$/).filter((name) => name !== '__proto__');
export const arbTaskId = (): fc.Arbitrary<string> => fc.stringMatching(/^[A-Za-z0-9_.-]{1,16}$/);

type JsonValue = Extract<Part, { data: unknown }>['data'];

/** Without null in objects and lists that are empty: protobuf tells these from what is left out, older readers do not. */
export const arbData = (): fc.Arbitrary<JsonValue> =>
  fc.letrec<{ value: JsonValue }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      fc.oneof(
        fc.string(),
        fc.integer(),
        fc.boolean(),
        fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => n + 0),
      ),
      fc.array(tie('value'), { minLength: 1, maxLength: 3 }),
      fc.dictionary(arbName(), tie('value'), { minKeys: 1, maxKeys: 3, noNullPrototype: true }),
    ),
  })).value;

export const arbMetadata = (): fc.Arbitrary<{ [key: string]: JsonValue }> =>
  fc.dictionary(arbName(), arbData(), { minKeys: 1, maxKeys: 3, noNullPrototype: true });

const arbRaw = (): fc.Arbitrary<string> =>
  fc.uint8Array({ minLength: 1, maxLength: 12 }).map((bytes) => Buffer.from(bytes).toString('base64'));

const arbMediaType = (): fc.Arbitrary<string> =>
  fc.constantFrom('text/plain', 'application/json', 'image/png');

const optional: { requiredKeys: []; noNullPrototype: true } = { requiredKeys: [], noNullPrototype: true };

/** What all dialects carry: names and types are those of files. */
export const arbPart = (): fc.Arbitrary<Part> => {
  const file = fc.record(
    { mediaType: arbMediaType(), filename: arbName(), metadata: arbMetadata() },
    optional,
  );
  const facts = fc.record({ metadata: arbMetadata() }, optional);
  return fc.oneof(
    fc.tuple(fc.string(), facts).map(([text, more]) => ({ text, ...more })),
    fc.tuple(arbData(), facts).map(([data, more]) => ({ data, ...more })),
    fc.tuple(arbRaw(), file).map(([raw, more]) => ({ raw, ...more })),
    fc.tuple(fc.webUrl(), file).map(([url, more]) => ({ url, ...more })),
  );
};

export const arbTaskMessage = (
  role: fc.Arbitrary<TaskMessage['role']> = fc.constantFrom('user', 'agent'),
): fc.Arbitrary<TaskMessage> =>
  fc.record(
    {
      messageId: arbTaskId(),
      role,
      parts: fc.array(arbPart(), { minLength: 1, maxLength: 3 }),
      metadata: arbMetadata(),
      extensions: fc.array(fc.webUrl(), { minLength: 1, maxLength: 2 }),
      referenceTaskIds: fc.array(arbTaskId(), { minLength: 1, maxLength: 2 }),
    },
    { requiredKeys: ['messageId', 'role', 'parts'], noNullPrototype: true },
  );

export const arbArtifact = (): fc.Arbitrary<Artifact> =>
  fc.record(
    {
      artifactId: arbTaskId(),
      parts: fc.array(arbPart(), { minLength: 1, maxLength: 3 }),
      name: arbName(),
      description: arbName(),
      metadata: arbMetadata(),
      extensions: fc.array(fc.webUrl(), { minLength: 1, maxLength: 2 }),
    },
    { requiredKeys: ['artifactId', 'parts'], noNullPrototype: true },
  );

const arbAtMs = (): fc.Arbitrary<number> => fc.integer({ min: 0, max: 4e12 });
const arbGeneration = (): fc.Arbitrary<number> => fc.integer({ min: 1, max: 1e6 });

export const arbTask = (): fc.Arbitrary<Task> =>
  fc.record(
    {
      id: arbTaskId(),
      contextId: arbTaskId(),
      status: fc.record(
        { state: fc.constantFrom(...TASK_STATES), atMs: arbAtMs(), message: arbTaskMessage() },
        { requiredKeys: ['state', 'atMs'], noNullPrototype: true },
      ),
      artifacts: fc.uniqueArray(arbArtifact(), { maxLength: 3, selector: ({ artifactId }) => artifactId }),
      history: fc.array(arbTaskMessage(), { maxLength: 3 }),
      generation: arbGeneration(),
      createdAtMs: arbAtMs(),
      metadata: arbMetadata(),
    },
    {
      requiredKeys: ['id', 'contextId', 'status', 'artifacts', 'history', 'generation', 'createdAtMs'],
      noNullPrototype: true,
    },
  );

/** One item of a stream, as a service gives them: what the owner has said is not among them. */
export const arbStreamItem = (): fc.Arbitrary<StreamItem> =>
  fc.oneof(
    fc.record({ kind: fc.constant('task' as const), task: arbTask(), isLast: fc.boolean() }),
    fc.record({
      kind: fc.constant('change' as const),
      taskId: arbTaskId(),
      contextId: arbTaskId(),
      isLast: fc.boolean(),
      change: fc.oneof(
        fc.record(
          {
            kind: fc.constant('status' as const),
            generation: arbGeneration(),
            atMs: arbAtMs(),
            state: fc.constantFrom(...TASK_STATES),
            message: arbTaskMessage(fc.constant('agent')),
          },
          { requiredKeys: ['kind', 'generation', 'atMs', 'state'], noNullPrototype: true },
        ),
        fc.record({
          kind: fc.constant('artifact' as const),
          generation: arbGeneration(),
          atMs: arbAtMs(),
          artifact: arbArtifact(),
          append: fc.boolean(),
          lastChunk: fc.boolean(),
        }),
      ),
    }),
  );
