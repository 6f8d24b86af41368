import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { type Asking, OwnRequest } from '../../../runtime/peers/own-request.ts';
import { RequestQueue } from '../../../runtime/peers/request-queue.ts';

/** A request with something in its envelope, and what it was. */
function requestWith(payload: object): OwnRequest {
  const asking = { type: 'request', wants: 'value', envelope: { payload } } as Asking;
  return new OwnRequest(asking, { onAnswer: () => undefined, onLost: () => undefined });
}

/** Puts so many into the queue. */
function fill(queue: RequestQueue, count: number): OwnRequest[] {
  const requests = Array.from({ length: count }, (_, at) => requestWith({ at }));
  for (const request of requests) queue.push(request);
  return requests;
}

describe('A queue of requests to another node', () => {
  it.each([[1], [2], [5], [9]])('counts and gives in order those that are wanted, one in %i', (every) => {
    const queue = new RequestQueue();
    const requests = fill(queue, 40);
    const wanted = requests.filter((_, at) => at % every === 0);
    for (const request of requests) if (!wanted.includes(request)) request.abort('nobody waits');
    expect(queue.length).toBe(wanted.length);
    expect(wanted.map(() => queue.shift())).toEqual(wanted);
    expect([queue.shift(), queue.length]).toEqual([undefined, 0]);
  });

  it('knows of one that is given up after it has left nothing more', () => {
    const queue = new RequestQueue();
    fill(queue, 2);
    queue.shift()?.abort('nobody waits');
    expect(queue.length).toBe(1);
  });

  it('keeps nothing of what a request asked that was given up', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const queue = new RequestQueue();
    const kept = requestWith({});
    queue.push(kept);
    const payloads = [0, 1].map((at) => {
      const payload = { at };
      const request = requestWith(payload);
      queue.push(request);
      if (at === 1) request.abort('nobody waits');
      return new WeakRef(payload);
    });
    await new Promise((resolve) => setImmediate(resolve));
    collect();
    expect(payloads.map((payload) => payload.deref())).toEqual([{ at: 0 }, undefined]);
    expect(queue.shift()).toBe(kept);
  });
});
