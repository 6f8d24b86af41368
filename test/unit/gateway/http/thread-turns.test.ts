import { describe, expect, it } from 'vitest';
import { ThreadTurns } from '../../../../gateway/http/thread-turns.ts';

/** A thread whose event loop turns when it is told to. */
function handTurned() {
  const asked: (() => void)[] = [];
  const turns = new ThreadTurns((run) => void asked.push(run));
  const done: string[] = [];
  const work = async (name: string, signal = new AbortController().signal) => {
    await turns.begin(signal);
    done.push(name);
  };
  const turn = async (): Promise<string[]> => {
    for (const run of asked.splice(0)) run();
    await new Promise(setImmediate);
    return [...done];
  };
  return { turns, asked, done, work, turn };
}

describe('Long work in a thread that others wait for', () => {
  it('is done one piece a turn of the event loop, the first who asked first', async () => {
    const { turns, asked, work, turn } = handTurned();
    const all = [work('a'), work('b')];
    expect(turns.waiting).toBe(2);
    expect(await turn()).toEqual(['a']);
    all.push(work('c'));
    expect(await turn()).toEqual(['a', 'b']);
    expect(await turn()).toEqual(['a', 'b', 'c']);
    await Promise.all(all);
    expect([asked.length, turns.waiting]).toEqual([0, 0]);
    const late = work('d');
    expect(await turn()).toEqual(['a', 'b', 'c', 'd']);
    await late;
  });

  it('is gone on with before anything else is begun', async () => {
    const { turns, done, work, turn } = handTurned();
    const twice = async (name: string): Promise<void> => {
      await work(name);
      await turns.goOn(new AbortController().signal);
      done.push(`${name} again`);
    };
    const all = [twice('a'), twice('b')];
    expect(await turn()).toEqual(['a']);
    expect(await turn()).toEqual(['a', 'a again']);
    expect(await turn()).toEqual(['a', 'a again', 'b']);
    expect(await turn()).toEqual(['a', 'a again', 'b', 'b again']);
    await Promise.all(all);
  });

  it('takes no turn when its caller has gone', async () => {
    const { turns, work, turn } = handTurned();
    const leaving = new AbortController();
    const left = [work('a', leaving.signal), work('b', leaving.signal)];
    const stays = work('c');
    leaving.abort();
    const refused = Promise.allSettled(left);
    expect(await turn()).toEqual(['c']);
    for (const one of await refused)
      expect(one).toMatchObject({ status: 'rejected', reason: { code: 'SYSTEM_STOPPED' } });
    await stays;
    expect(turns.waiting).toBe(0);
  });
});
