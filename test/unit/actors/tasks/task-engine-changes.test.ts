import { describe, expect, it } from 'vitest';
import { KeptTasks } from '../../../fixtures/kept-tasks.ts';
import { until } from '../../../fixtures/until.ts';
import { ALICE, all, artifact, engineInHand, said } from './engine-in-hand.ts';

describe('The changes of a task', () => {
  it('are seen by all who read along, from any number on, at any pace', async () => {
    const { engine, turnOf } = await engineInHand();
    const { id } = await engine.send(ALICE, said('m1'));
    const { turn, end } = await turnOf(0);
    const early = all(engine.changes(ALICE, id));
    for (let n = 0; n < 500; n++) turn.artifact(artifact(`${n}`), { append: n > 0 });
    const middle = all(engine.changes(ALICE, id, { after: 200 }));
    end({ state: 'completed' });
    const whole = await early;
    expect(whole.map(({ generation }) => generation)).toEqual(Array.from({ length: 503 }, (_, at) => at + 1));
    expect(await middle).toEqual(whole.slice(200));
    expect(await all(engine.changes(ALICE, id, { after: 500 }))).toEqual(whole.slice(500));
    expect(await all(engine.changes(ALICE, id, { after: 9_999 }))).toEqual([]);
  });

  it('are not shown before they are kept', async () => {
    const log = new KeptTasks(true);
    const { engine, turnOf } = await engineInHand({ log });
    const sending = engine.send(ALICE, said('m1'));
    const keepOne = async (): Promise<void> => {
      await until('something is written', () => log.waiting > 0);
      log.keep();
    };
    await keepOne();
    const { id } = await sending;
    await keepOne();
    const { turn, end } = await turnOf(0);
    const seen: number[] = [];
    const reading = (async () => {
      for await (const { generation } of engine.changes(ALICE, id)) {
        expect(log.kept(id)?.changes.length).toBeGreaterThanOrEqual(generation);
        seen.push(generation);
      }
    })();
    turn.artifact(artifact('one'));
    turn.artifact(artifact('two'), { append: true });
    turn.artifact(artifact('three'), { append: true });
    await until('something is written', () => log.waiting > 0);
    expect(engine.get(ALICE, id).generation).toBe(2);
    await keepOne();
    await until('the first is shown', () => seen.length === 3);
    await keepOne();
    await until('the others are shown together', () => seen.length === 5);
    end({ state: 'completed' });
    await keepOne();
    await reading;
    expect(seen).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it('can be left at any time, and nothing of that stays', async () => {
    const { engine, turnOf } = await engineInHand();
    const { id } = await engine.send(ALICE, said('m1'));
    await turnOf(0);
    const readers = Array.from({ length: 1_000 }, () => {
      const leaving = new AbortController();
      return { leaving, read: all(engine.changes(ALICE, id, { signal: leaving.signal })) };
    });
    for (const { leaving } of readers) leaving.abort();
    for (const { read } of readers) expect((await read).length).toBeLessThanOrEqual(2);
  });
});
