import { describe, expect, it } from 'vitest';
import { type ChangeSource, TaskChanges } from '../../../../actors/tasks/live-task.ts';
import type { TaskChange } from '../../../../runtime/protocol/task.ts';

class Source implements ChangeSource {
  readonly changes: TaskChange[] = [];
  readonly waiting = new Set<() => void>();
  isEnded = false;
  failure: Error | undefined;

  published(index: number): TaskChange | undefined {
    return this.changes[index];
  }

  onNews(tell: () => void): void {
    this.waiting.add(tell);
  }

  offNews(tell: () => void): void {
    this.waiting.delete(tell);
  }

  publish(...states: ('working' | 'completed')[]): void {
    for (const state of states)
      this.changes.push({ kind: 'status', state, generation: this.changes.length + 1, atMs: 0 });
    this.tell();
  }

  tell(): void {
    const told = [...this.waiting];
    this.waiting.clear();
    for (const tell of told) tell();
  }
}

const generationOf = ({ value }: IteratorResult<TaskChange, void>): number | undefined => value?.generation;

describe('Changes of a task as they are read', () => {
  it('come in order, whoever asks for several at once', async () => {
    const source = new Source();
    const changes = new TaskChanges(source, 0, undefined);
    const asked = [changes.next(), changes.next(), changes.next(), changes.next()];
    source.publish('working', 'working');
    source.isEnded = true;
    source.publish('completed');
    expect((await Promise.all(asked)).map(generationOf)).toEqual([1, 2, 3, undefined]);
  });

  it('begin after the number that is said, and say for ever that they have ended', async () => {
    const source = new Source();
    source.isEnded = true;
    source.publish('working', 'completed');
    const changes = new TaskChanges(source, 1, undefined);
    expect(generationOf(await changes.next())).toBe(2);
    expect(await changes.next()).toEqual({ done: true, value: undefined });
    source.publish('working');
    expect(await changes.next()).toEqual({ done: true, value: undefined });
  });

  it('end for whoever waits when the reader leaves, and nobody is told any more', async () => {
    const source = new Source();
    const changes = new TaskChanges(source, 0, undefined);
    const waiting = [changes.next(), changes.next()];
    await changes.return();
    expect((await Promise.all(waiting)).map(({ done }) => done)).toEqual([true, true]);
    expect(source.waiting.size).toBe(0);
  });

  it('end with the signal, before and while somebody waits', async () => {
    const source = new Source();
    const controller = new AbortController();
    const changes = new TaskChanges(source, 0, controller.signal);
    const waiting = changes.next();
    controller.abort();
    expect((await waiting).done).toBe(true);
    expect(source.waiting.size).toBe(0);
    source.publish('working');
    expect((await new TaskChanges(source, 0, controller.signal).next()).done).toBe(true);
  });

  it('fail once, when what is kept has been read, and are over then', async () => {
    const source = new Source();
    const changes = new TaskChanges(source, 0, undefined);
    const asked = [changes.next(), changes.next(), changes.next()];
    source.failure = new Error('the disk is full');
    source.publish('working');
    const [first, second, third] = await Promise.allSettled(asked);
    expect(first).toMatchObject({ value: { done: false } });
    expect(second).toMatchObject({ reason: { message: 'the disk is full' } });
    expect(third).toMatchObject({ value: { done: true } });
  });
});
