import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { MessageChannel } from 'node:worker_threads';
import { afterEach, describe, expect, it } from 'vitest';
import { Connection } from '../../../runtime/link/connection.ts';
import { nodePort } from '../../../runtime/link/port.ts';
import { agentNotFound, threadDied } from '../../../runtime/protocol/errors.ts';
import { SILENT_PORT } from '../../fixtures/steered-node.ts';
import { rejection, until } from '../../fixtures/until.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

interface Counts {
  add(by: number): Promise<number>;
}

type Order = { readonly t: 'note'; readonly text: string };

const open: Connection<Counts, Order>[] = [];

afterEach(() => {
  for (const connection of open.splice(0)) connection.close();
});

/** The two ends of a port, in one thread. */
function pair(): readonly [Connection<Counts, Order>, Connection<Counts, Order>] {
  const { port1, port2 } = new MessageChannel();
  const ends = [port1, port2].map((port) => new Connection<Counts, Order>(nodePort(port)));
  open.push(...ends);
  return ends as [Connection<Counts, Order>, Connection<Counts, Order>];
}

describe('A connection between two threads', () => {
  it('has what was ordered before an answer obeyed before the answer is had, and nothing that came later', async () => {
    const [here, there] = pair();
    const notes: string[] = [];
    here.serve({}, (order) => notes.push((order as Order).text));
    there.serve<Counts>({
      add: async (by) => {
        there.tell({ t: 'note', text: 'before' });
        await Promise.resolve();
        there.tell({ t: 'note', text: 'later, before' });
        setImmediate(() => there.tell({ t: 'note', text: 'after' }));
        return by + 1;
      },
    });
    expect(await here.api.add(1)).toBe(2);
    expect(notes).toEqual(['before', 'later, before']);
    await here.api.add(1);
    expect(notes.slice(0, 3)).toEqual(['before', 'later, before', 'after']);
  });

  it('has every order obeyed that was given before a call, when the call is answered', async () => {
    const [here, there] = pair();
    let sum = 0;
    there.serve<Counts>({ add: async (by) => sum + by }, (order) => {
      sum += (order as Order).text.length;
    });
    here.serve({});
    here.tell({ t: 'note', text: 'four' });
    const first = here.api.add(10);
    here.tell({ t: 'note', text: 'of it' });
    expect(await first).toBe(14);
    expect(await here.api.add(10)).toBe(19);
  });

  it('carries calls both ways at a time', async () => {
    const [here, there] = pair();
    here.serve<Counts>({ add: async (by) => by + 1 });
    there.serve<Counts>({ add: async (by) => (await there.api.add(by)) * 10 });
    expect(await Promise.all([here.api.add(1), here.api.add(2), there.api.add(3)])).toEqual([20, 30, 4]);
  });

  it('keeps what comes before it is served', async () => {
    const [here, there] = pair();
    here.serve({});
    const asked = here.api.add(1);
    await new Promise((resolve) => setImmediate(resolve));
    there.serve<Counts>({ add: async (by) => by + 1 });
    expect(await asked).toBe(2);
  });

  it('carries the code of an error, and fails what waits when it is cut', async () => {
    const [here, there] = pair();
    const never = Promise.withResolvers<number>();
    there.serve<Counts>({
      add: async (by) => {
        if (by < 0) throw agentNotFound('nobody');
        return never.promise;
      },
    });
    here.serve({});
    expect(await rejection(here.api.add(-1))).toMatchObject({ code: 'AGENT_NOT_FOUND' });
    const waiting = rejection(here.api.add(1));
    here.cut(threadDied('worker-1', 'worker-1'));
    expect(await waiting).toMatchObject({ code: 'THREAD_DIED' });
    expect(await rejection(here.api.add(1))).toMatchObject({ code: 'THREAD_DIED' });
  });

  it('posts nothing more once it is cut', async () => {
    const [here, there] = pair();
    const asked: number[] = [];
    there.serve<Counts>({
      add: async (by) => {
        asked.push(by);
        return by;
      },
    });
    here.serve<Counts>({ add: async (by) => by });
    here.cut(threadDied('worker-1', 'worker-1'));
    expect(await rejection(here.api.add(1))).toMatchObject({ code: 'THREAD_DIED' });
    here.tell({ t: 'note', text: 'after it' });
    // Whatever was posted to it before is there when it has an answer.
    await there.api.add(2);
    expect(asked).toEqual([]);
  });

  it('has an answer that is read in the turn in which it is cut', async () => {
    let receive: (message: unknown) => void = () => undefined;
    const posted: { t: string; message: { id: string } }[] = [];
    const here = new Connection<Counts, Order>({
      ...SILENT_PORT,
      post: (frame) => posted.push(frame as (typeof posted)[number]),
      onMessage: (listener) => {
        receive = listener;
      },
    });
    here.serve({});
    const answered = here.api.add(1);
    const unanswered = rejection(here.api.add(2));
    const [call] = posted;
    receive({ t: 'answer', message: { id: call?.message.id, type: 'RAW', value: { value: 2 } } });
    here.cut(threadDied('worker-1', 'worker-1'));
    expect(await answered).toBe(2);
    expect(await unanswered).toMatchObject({ code: 'THREAD_DIED' });
  });

  it('is let go of once nobody has it any more', async () => {
    const used = async (): Promise<WeakRef<object>> => {
      const { port1, port2 } = new MessageChannel();
      const [here, there] = [port1, port2].map((port) => new Connection<Counts, Order>(nodePort(port)));
      here?.serve({});
      there?.serve<Counts>({ add: async (by) => by + 1 });
      expect(await here?.api.add(1)).toBe(2);
      here?.close();
      return new WeakRef(here as object);
    };
    const connection = await used();
    await until('it is collected', () => {
      collect();
      return connection.deref() === undefined;
    });
  });
});
