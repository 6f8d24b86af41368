import fc from 'fast-check';
import {
  type Artifact,
  type Part,
  TASK_STATES,
  type Task,
  type TaskChange,
  type TaskMessage,
} from '../../../runtime/protocol/task.ts';
import { arbJson, withoutProto } from './json.ts';

/** Text that is there: proto does not tell an empty one from none. */
const word = fc.string({ minLength: 1, maxLength: 12, unit: 'grapheme' });
const maybe = <Value>(name: string, values: fc.Arbitrary<Value>): fc.Arbitrary<Record<string, Value>> =>
  fc
    .option(values, { nil: undefined })
    .map((value): Record<string, Value> => (value === undefined ? {} : { [name]: value }));

const arbValue = withoutProto(arbJson()) as fc.Arbitrary<never>;
const arbMetadata = withoutProto(fc.dictionary(word, arbValue, { maxKeys: 3 })) as fc.Arbitrary<
  Record<string, never>
>;

const merged = (...pieces: readonly fc.Arbitrary<object>[]): fc.Arbitrary<never> =>
  fc.tuple(...pieces).map((given) => Object.assign({}, ...given) as never);

/** Every kind of part. null as data is left out: the SDK takes it for no data. */
export const arbPart: fc.Arbitrary<Part> = merged(
  fc.oneof(
    fc.string().map((text) => ({ text })),
    fc.uint8Array({ maxLength: 20 }).map((bytes) => ({ raw: Buffer.from(bytes).toString('base64') })),
    fc.webUrl().map((url) => ({ url })),
    arbValue.filter((data) => data !== null).map((data) => ({ data })),
  ),
  maybe('mediaType', word),
  maybe('filename', word),
  maybe('metadata', arbMetadata),
);

const arbNames = fc.array(word, { minLength: 1, maxLength: 3 });

export const arbMessage: fc.Arbitrary<TaskMessage> = merged(
  fc.record({
    messageId: word,
    role: fc.constantFrom('user' as const, 'agent' as const),
    parts: fc.array(arbPart, { minLength: 1, maxLength: 3 }),
  }),
  maybe('metadata', arbMetadata),
  maybe('extensions', arbNames),
  maybe('referenceTaskIds', arbNames),
);

const arbArtifact: fc.Arbitrary<Artifact> = merged(
  fc.record({ artifactId: word, parts: fc.array(arbPart, { maxLength: 3 }) }),
  maybe('name', word),
  maybe('description', word),
  maybe('metadata', arbMetadata),
  maybe('extensions', arbNames),
);

const arbState = fc.constantFrom(...TASK_STATES);
const arbAtMs = fc.integer({ min: 0, max: Date.UTC(2100, 0) });

export const arbTask: fc.Arbitrary<Task> = merged(
  fc.record({
    id: word,
    contextId: word,
    status: merged(fc.record({ state: arbState, atMs: arbAtMs }), maybe('message', arbMessage)),
    artifacts: fc.array(arbArtifact, { maxLength: 3 }),
    history: fc.array(arbMessage, { maxLength: 3 }),
    generation: fc.nat(),
    createdAtMs: arbAtMs,
  }),
  maybe('metadata', arbMetadata),
);

/** What a stream says of a task. */
export const arbChange: fc.Arbitrary<Exclude<TaskChange, { kind: 'message' }>> = fc.oneof(
  merged(
    fc.record({
      kind: fc.constant('status'),
      generation: fc.integer({ min: 1 }),
      atMs: arbAtMs,
      state: arbState,
    }),
    maybe('message', arbMessage),
  ),
  merged(
    fc.record({
      kind: fc.constant('artifact'),
      generation: fc.integer({ min: 1 }),
      atMs: arbAtMs,
      artifact: arbArtifact,
      append: fc.boolean(),
      lastChunk: fc.boolean(),
    }),
  ),
);
