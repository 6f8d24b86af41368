import { describe, expect, it } from 'vitest';
import { LiveTask } from '../../../../actors/tasks/live-task.ts';
import { InMemoryTaskLog } from '../../../../actors/tasks/task-log.ts';
import type { TaskChange } from '../../../../runtime/protocol/task.ts';

const OPENING = {
  id: 'task',
  key: 'key',
  contextId: 'context',
  createdAtMs: 0,
  owner: { principalId: 'alice' },
  agentId: 'mars',
};

function liveTask() {
  let grown = 0;
  const published: TaskChange[] = [];
  const task = new LiveTask(OPENING, {
    log: new InMemoryTaskLog(),
    nowMs: () => 1,
    onPublished: (_task, changes) => published.push(...changes),
    onGrown: (_task, bytes) => {
      grown += bytes;
    },
  });
  return { task, published, grown: () => grown };
}

const chunk = (text: string, append: boolean) => ({
  kind: 'artifact' as const,
  artifact: { artifactId: 'report', parts: [{ text }] },
  append,
  lastChunk: false,
});

describe('A task', () => {
  it('remembers for its work until it is over, and is smaller then', () => {
    const { task, grown } = liveTask();
    const atFirst = task.bytes;
    task.change({ kind: 'status', state: 'working' });
    task.remember({ step: 'x'.repeat(1_000) });
    expect(task.memo).toEqual({ step: 'x'.repeat(1_000) });
    expect(task.bytes).toBeGreaterThan(1_000);
    task.change({ kind: 'status', state: 'completed' });
    expect(task.memo).toBeUndefined();
    expect(task.bytes).toBeLessThan(1_000);
    expect(grown()).toBe(task.bytes - atFirst);
  });

  it('is kept when what it remembers is, and not before (X-25, A-08)', async () => {
    const writes: PromiseWithResolvers<void>[] = [];
    const kept = (): Promise<void> => {
      const write = Promise.withResolvers<void>();
      writes.push(write);
      return write.promise;
    };
    const log = { open: kept, append: kept };
    const task = new LiveTask(OPENING, { log, nowMs: () => 1, onPublished: () => undefined });
    task.change({ kind: 'status', state: 'working' });
    writes[0]?.resolve();
    await task.whenKept();
    task.remember({ step: 1 });
    let isKept = false;
    const keeping = task.whenKept().then(() => {
      isKept = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(isKept).toBe(false);
    writes[1]?.resolve();
    await keeping;
    task.remember({ step: 2 });
    writes[2]?.reject(new Error('no room'));
    await expect(task.whenKept()).rejects.toThrow('no room');
  });

  it('adds chunks to its artifact, and none to what a change holds or to what was read before', () => {
    const { task, published } = liveTask();
    task.change({ kind: 'status', state: 'working' });
    task.change(chunk('a', false));
    const early = task.view.read();
    task.change(chunk('b', true));
    const later = task.view.read();
    task.change(chunk('c', true));
    const texts = (parts: readonly object[] | undefined) =>
      parts?.map((part) => ('text' in part ? part.text : undefined));
    expect(texts(task.view.read().artifacts[0]?.parts)).toEqual(['a', 'b', 'c']);
    expect(texts(early.artifacts[0]?.parts)).toEqual(['a']);
    expect(texts(later.artifacts[0]?.parts)).toEqual(['a', 'b']);
    const held = published.flatMap((change) =>
      change.kind === 'artifact' ? [texts(change.artifact.parts)] : [],
    );
    expect(held).toEqual([['a'], ['b'], ['c']]);
    task.change(chunk('anew', false));
    task.change(chunk('more', true));
    expect(texts(task.view.read().artifacts[0]?.parts)).toEqual(['anew', 'more']);
    const last = published.at(-2);
    expect(last?.kind === 'artifact' && texts(last.artifact.parts)).toEqual(['anew']);
  });
});
