import { describe, expect, it } from 'vitest';
import type { GivenWork } from '../../../runtime/processes/child/child-handling.ts';
import { WorkQueue } from '../../../runtime/processes/child/work-queue.ts';

/** A queue whose work begins at once and is done when the test says so; `sync` work is done as it begins. */
function queued() {
  const begun: number[] = [];
  const queue: WorkQueue = new WorkQueue(({ n, isAsked }) => {
    begun.push(n);
    if (!isAsked) queue.done(n);
  });
  const work = (n: number, isSync = false) => ({ n, isAsked: !isSync }) as GivenWork;
  return { queue, begun, work };
}

describe('The queue of envelopes in a process', () => {
  it('begins on the next when the one before is done', () => {
    const { queue, begun, work } = queued();
    queue.add(work(1), 'own');
    queue.add(work(2), 'next');
    queue.add(work(3), 'next');
    expect(begun).toEqual([1]);
    queue.done(1);
    expect(begun).toEqual([1, 2]);
    queue.done(2);
    expect(begun).toEqual([1, 2, 3]);
  });

  it('goes through a thousand that are done at once without a stack of a thousand', () => {
    const { queue, begun, work } = queued();
    queue.add(work(0), 'own');
    for (let n = 1; n <= 10_000; n++) queue.add(work(n, true), 'next');
    queue.done(0);
    expect(begun).toHaveLength(10_001);
    expect(begun).toEqual([...begun].sort((one, other) => one - other));
  });

  it('begins in between on what cannot wait, and goes on where it was', () => {
    const { queue, begun, work } = queued();
    queue.add(work(1), 'own');
    queue.add(work(2), 'next');
    queue.add(work(3), 'next');
    queue.add(work(4), 'between');
    queue.runNow(3);
    expect(begun).toEqual([1, 4, 3]);
    queue.done(4);
    queue.done(3);
    expect(begun).toEqual([1, 4, 3]);
    queue.done(1);
    expect(begun).toEqual([1, 4, 3, 2]);
  });

  it('begins on nothing more while something in between outlasts whose turn it was', () => {
    const { queue, begun, work } = queued();
    queue.add(work(1), 'own');
    queue.add(work(2), 'next');
    queue.add(work(3), 'next');
    queue.add(work(4), 'between');
    queue.runNow(3);
    queue.done(1);
    queue.add(work(5), 'next');
    queue.done(3);
    expect(begun).toEqual([1, 4, 3]);
    queue.done(4);
    queue.done(2);
    expect(begun).toEqual([1, 4, 3, 2, 5]);
  });

  it('takes the turn of one that the host does not wait for any more', () => {
    const { queue, begun, work } = queued();
    queue.add(work(1), 'own');
    queue.add(work(2), 'own');
    queue.add(work(3), 'next');
    queue.done(1);
    expect(begun).toEqual([1, 2]);
    queue.done(2);
    expect(begun).toEqual([1, 2, 3]);
  });

  it('drops what has not begun, and only that', () => {
    const { queue, begun, work } = queued();
    queue.add(work(1), 'own');
    queue.add(work(2), 'next');
    expect([queue.drop(1), queue.drop(2), queue.drop(2)]).toEqual([false, true, false]);
    queue.done(1);
    expect(begun).toEqual([1]);
  });

  it('begins on nothing more when the life is over', () => {
    const { queue, begun, work } = queued();
    queue.add(work(1), 'own');
    queue.add(work(2), 'next');
    queue.stop();
    queue.done(1);
    queue.add(work(3), 'own');
    expect(begun).toEqual([1]);
  });
});
