import { describe, expect, it } from 'vitest';
import { Semaphore } from '../../../runtime/agent/semaphore.ts';

describe('turns', () => {
  it('lets so many through at once and the others in order', async () => {
    const turns = new Semaphore(2);
    const order: string[] = [];
    const takers = ['a', 'b', 'c', 'd'].map(async (name) => {
      await turns.take();
      order.push(name);
    });
    await Promise.all(takers.slice(0, 2));
    expect(order).toEqual(['a', 'b']);
    turns.end();
    await takers[2];
    expect(order).toEqual(['a', 'b', 'c']);
    turns.end();
    await takers[3];
  });

  it('skips who gave up waiting', async () => {
    const turns = new Semaphore(1);
    await turns.take();
    const impatient = new AbortController();
    const skipped = turns.take(impatient.signal);
    const next = turns.take();
    impatient.abort();
    expect(await skipped).toBe(false);
    turns.end();
    expect(await next).toBe(true);
  });

  it('has no turn for who was aborted before', async () => {
    const turns = new Semaphore(1);
    expect(await turns.take(AbortSignal.abort())).toBe(false);
    expect(await turns.take()).toBe(true);
  });

  it('sends everybody away who waits', async () => {
    const turns = new Semaphore(1);
    await turns.take();
    const waiting = [turns.take(), turns.take(new AbortController().signal)];
    turns.dismiss();
    expect(await Promise.all(waiting)).toEqual([false, false]);
  });
});
