import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Task } from '../../runtime/protocol/task.ts';
import { AnyPart } from '../../gateway/a2a/wire/parts.ts';
import { givenTaskId } from '../../gateway/a2a/wire/v01/given-ids.ts';
import type { StreamItem } from '../../gateway/a2a/wire/operations.ts';
import { createV01 } from '../../gateway/a2a/wire/v01/dialect.ts';
import { V03 } from '../../gateway/a2a/wire/v03/dialect.ts';
import { arbArtifact, arbTask, arbTaskId } from './arbitraries/task.ts';
import { json, OWNER, RUNS } from './dialect-trial.ts';

/** The schemas of 0.1, as its a2a.json has them: what is not in them is not understood. */
const Metadata01 = z.record(z.string(), z.unknown()).optional();
const Part01 = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('text'), text: z.string(), metadata: Metadata01 }),
  z.strictObject({
    type: z.literal('file'),
    file: z.union([
      z.strictObject({ name: z.string().optional(), mimeType: z.string().optional(), bytes: z.base64() }),
      z.strictObject({ name: z.string().optional(), mimeType: z.string().optional(), uri: z.string() }),
    ]),
    metadata: Metadata01,
  }),
  z.strictObject({ type: z.literal('data'), data: z.record(z.string(), z.unknown()), metadata: Metadata01 }),
]);
const Message01 = z.strictObject({
  role: z.enum(['user', 'agent']),
  parts: z.array(Part01),
  metadata: Metadata01,
});
const Status01 = z.strictObject({
  state: z.enum(['submitted', 'working', 'input-required', 'completed', 'canceled', 'failed', 'unknown']),
  message: Message01.optional(),
  timestamp: z.iso.datetime(),
});
const Artifact01 = z.strictObject({
  name: z.string().optional(),
  description: z.string().optional(),
  parts: z.array(Part01),
  index: z.int().nonnegative(),
  append: z.boolean().optional(),
  lastChunk: z.boolean().optional(),
  metadata: Metadata01,
});
const Task01 = z.strictObject({
  id: z.string(),
  sessionId: z.string().optional(),
  status: Status01,
  artifacts: z.array(Artifact01).optional(),
  history: z.array(Message01).optional(),
  metadata: Metadata01,
});
const Item01 = z.union([
  z.strictObject({ id: z.string(), status: Status01, final: z.boolean() }),
  z.strictObject({ id: z.string(), artifact: Artifact01 }),
]);

const { rpc: V01 } = createV01({ newId: () => 'made-here' });

describe('A2A 0.1', () => {
  it('shows tasks in the states and fields that it has (C-11)', () => {
    fc.assert(
      fc.property(arbTask(), (task) => {
        const { state } = task.status;
        const shown = Task01.parse(json(V01.write.send?.({ kind: 'task', task })));
        const expected =
          state === 'rejected' ? 'failed' : state === 'auth-required' ? 'input-required' : state;
        expect(shown.status.state).toBe(expected);
        expect(shown.artifacts?.map(({ index }) => index) ?? []).toEqual(
          task.artifacts.map((_, index) => index),
        );
        const parts = (shown.artifacts ?? []).map((artifact) =>
          artifact.parts.map((part) => AnyPart.parse(part)),
        );
        expect(parts).toEqual(task.artifacts.map((artifact) => artifact.parts));
      }),
      RUNS,
    );
  });

  it('tells of a stream all that it holds, its artifacts numbered as the task has them', async () => {
    await fc.assert(
      fc.asyncProperty(arbTask(), fc.array(arbArtifact(), { maxLength: 6 }), async (task, more) => {
        const indexes = new Map(task.artifacts.map(({ artifactId }, index) => [artifactId, index]));
        const given = async function* (): AsyncGenerator<StreamItem> {
          yield { kind: 'task', task, isLast: false };
          for (const artifact of more) {
            const change = { kind: 'artifact', generation: 1, atMs: 0, artifact, append: true } as const;
            yield {
              kind: 'change',
              taskId: 't',
              contextId: 'c',
              change: { ...change, lastChunk: false },
              isLast: false,
            };
          }
        };
        const write = V01.itemWriter?.('stream') as (item: StreamItem) => unknown;
        const seen: [number, number][] = [];
        for await (const item of V01.itemsOf?.('stream', given()) ?? []) {
          const shown = Item01.parse(json(write(item)));
          if ('artifact' in shown) seen.push([shown.artifact.index, shown.artifact.parts.length]);
        }
        for (const { artifactId } of more)
          if (!indexes.has(artifactId)) indexes.set(artifactId, indexes.size);
        expect(seen).toEqual(
          [...task.artifacts, ...more].map(({ artifactId, parts }) => [
            indexes.get(artifactId),
            parts.length,
          ]),
        );
      }),
      RUNS,
    );
  });

  it('reads a message by parts of any kind, opens a task by the id that its caller chose, and waits half a minute', () => {
    const [message, more] = [{ role: 'user', parts: [{ type: 'text', text: 'hello' }] }, { sessionId: 's' }];
    const order = V01.read.send?.({ id: 'mine', message, ...more });
    expect(order).toEqual({
      message: { messageId: 'made-here', role: 'user', parts: [{ text: 'hello' }] },
      taskId: 'mine',
      opensTask: true,
      contextId: 's',
      returnImmediately: false,
      waitMs: 30_000,
      historyLength: 0,
      acceptedOutputModes: [],
    });
  });

  it('goes on with a task of a path, and opens none by it (A-08)', () => {
    const message = { role: 'user', parts: [{ kind: 'text', text: 'hello' }] };
    expect(V01.read.send?.({ taskId: 'mine', message })).toMatchObject({ taskId: 'mine', opensTask: false });
  });

  it('shows a task in the words in which it was begun, where its own are also those of 0.3', async () => {
    const subscribed = async (task: Task): Promise<unknown[]> => {
      const given = async function* (): AsyncGenerator<StreamItem> {
        yield { kind: 'task', task, isLast: true };
      };
      const written: unknown[] = [];
      const write = V01.itemWriter?.('subscribe');
      for await (const item of V01.itemsOf?.('subscribe', given()) ?? []) written.push(write?.(item));
      return written;
    };
    await fc.assert(
      fc.asyncProperty(arbTask(), arbTaskId(), async (task, chosen) => {
        const given = { ...task, id: givenTaskId(OWNER, chosen) };
        expect(V01.write.get?.(task)).toEqual(V03.write.get?.(task));
        expect(Task01.parse(json(V01.write.get?.(given))).id).toBe(chosen);
        const [theirs, own] = await Promise.all([subscribed(task), subscribed(given)]);
        expect(theirs).toEqual([V03.writeItem({ kind: 'task', task, isLast: true })]);
        expect(own).toHaveLength(task.artifacts.length + 1);
        expect(own.at(-1)).toMatchObject({ id: chosen, final: true });
      }),
      RUNS,
    );
  });
});
