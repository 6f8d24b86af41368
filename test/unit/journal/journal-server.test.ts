import { beforeEach, describe, expect, it } from 'vitest';
import { storeFailed } from '../../../runtime/protocol/errors.ts';
import { JournalRig, namesOf, type RigLine, settled, unitOf } from '../../fixtures/journal-rig.ts';
import { rejection } from '../../fixtures/until.ts';

const FULL = storeFailed('/data/journal', 'write', 'the disk is full');
const BROKEN = storeFailed('/data/journal', 'write', 'disk I/O error');

const emptyUnit = { mails: [], settled: [], records: [] };

describe('The journal', () => {
  let rig: JournalRig;
  let one: RigLine;
  let two: RigLine;
  let done: string[];

  beforeEach(() => {
    rig = new JournalRig();
    one = rig.connect();
    two = rig.connect();
    done = [];
  });

  const write = ({ line }: RigLine, name: string, mails = 1): void =>
    line.write(unitOf(name, mails), (first) => done.push(`${name}@${first}`));

  const hear = (...lines: RigLine[]): void => {
    for (const { here } of lines) here.deliverAll();
  };

  const next = (): string[] => namesOf(rig.asked[0]?.batches ?? []);

  it('writes a unit at once, and says the number of its first mail when it is written', async () => {
    write(one, 'a', 3);
    one.there.deliver();
    await rig.turn();
    expect(next()).toEqual(['a']);
    hear(one);
    expect(done).toEqual([]);
    await rig.succeed();
    hear(one);
    expect(done).toEqual(['a@1']);
    expect(one.line.outstanding).toBe(0);
  });

  it('writes in one step what comes of all lines while another write is under way', async () => {
    write(one, 'a');
    one.there.deliver();
    write(two, 'b', 2);
    write(one, 'c', 0);
    two.there.deliver();
    write(two, 'd');
    await rig.turn();
    expect(rig.asked).toHaveLength(1);
    await rig.succeed();
    expect(rig.asked).toHaveLength(1);
    expect(next()).toEqual(['b', 'none', 'd']);
    await rig.succeed();
    hear(one, two);
    expect(done).toEqual(['a@1', 'c@4', 'b@2', 'd@4']);
  });

  it('tells each line of its own units alone, in the order in which they were written', async () => {
    for (const name of ['a', 'b', 'c']) {
      write(one, name);
      write(two, `${name}2`, 2);
    }
    two.there.deliver();
    await rig.turn();
    await rig.succeed();
    hear(two);
    expect(done).toEqual(['a2@2', 'b2@5', 'c2@8']);
    hear(one);
    expect(done.slice(3)).toEqual(['a@1', 'b@4', 'c@7']);
  });

  it('writes also what was first seen by whoever asked for what is not written yet', async () => {
    const record = { kind: 'state', key: 'a', value: '1' };
    one.line.write({ ...emptyUnit, records: [record] }, (first) => done.push(`a@${first}`));
    expect(rig.server.unwritten()).toEqual([record]);
    await rig.turn();
    expect(rig.asked).toHaveLength(1);
    await rig.succeed();
    hear(one);
    expect(done).toEqual(['a@1']);
    expect(rig.server.unwritten()).toEqual([]);
  });

  it('lets the event loop turn between two writes', async () => {
    write(one, 'a');
    one.there.deliver();
    await settled();
    write(one, 'b');
    rig.asked.shift()?.succeed();
    await settled();
    expect(rig.asked).toEqual([]);
    expect(rig.loop.yieldedCount).toBe(1);
    await rig.turn();
    expect(next()).toEqual(['b']);
  });

  describe('what nobody waits for', () => {
    const settle = ({ line }: RigLine, ...settled: number[]): void =>
      line.write({ mails: [], settled, records: [] }, () => done.push(`-${settled.join()}`), false);

    it('waits for something to be written with, and is done with it', async () => {
      settle(one, 7, 8);
      one.there.deliver();
      await rig.turn();
      expect(rig.asked).toEqual([]);
      write(two, 'a');
      two.there.deliver();
      await rig.turn();
      expect(rig.asked[0]?.batches.map(({ settled }) => settled)).toEqual([[7, 8], []]);
      await rig.succeed();
      hear(one, two);
      expect(done).toEqual(['-7,8', 'a@1']);
      await rig.clock.advanceAsync(5);
      expect([rig.asked, rig.clock.pending]).toEqual([[], 0]);
    });

    it('is written by itself after five milliseconds', async () => {
      settle(one, 7);
      one.there.deliver();
      await rig.turn();
      await rig.clock.advanceAsync(4);
      settle(one, 8);
      one.there.deliver();
      await rig.turn();
      expect(rig.asked).toEqual([]);
      await rig.clock.advanceAsync(1);
      expect(rig.asked[0]?.batches.map(({ settled }) => settled)).toEqual([[7], [8]]);
      await rig.succeed();
      settle(one, 9);
      one.there.deliver();
      await rig.turn();
      expect([rig.asked, rig.clock.nextInMs]).toEqual([[], 5]);
    });

    it.each([
      ['there are 256 units of it', (): void => void Array.from({ length: 255 }, (_, n) => settle(two, n))],
      ['somebody waits until all is written', (): void => void rig.server.whenWritten()],
      ['somebody waits for another unit', (): void => two.line.write(emptyUnit, () => undefined)],
      ['the journal is closed', (): void => void rig.server.close()],
    ])('is written at once when %s', async (_, happens) => {
      settle(one, 1_000);
      one.there.deliver();
      await rig.turn();
      happens();
      two.there.deliverAll();
      await rig.turn();
      expect(rig.asked[0]?.batches[0]?.settled).toEqual([1_000]);
    });
  });

  describe('when the store fails', () => {
    it('writes the same again, alone and in the same order, until it succeeds', async () => {
      write(one, 'a');
      write(two, 'b');
      one.there.deliver();
      await rig.turn();
      const asked = rig.asked[0]?.batches;
      await rig.fail(FULL);
      write(one, 'c');
      one.there.deliverAll();
      for (let tries = 1; tries < 9; tries++) {
        await rig.clock.advanceAsync(rig.clock.nextInMs ?? 0);
        expect(rig.asked[0]?.batches).toEqual(asked);
        expect(rig.medium.mails.size).toBe(0);
        await rig.fail(FULL);
      }
      await rig.clock.advanceAsync(rig.clock.nextInMs ?? 0);
      await rig.succeed();
      expect(next()).toEqual(['c']);
      await rig.succeed();
      hear(one, two);
      expect(done).toEqual(['a@1', 'c@3', 'b@2']);
      expect([...rig.medium.mails.values()].map(({ body }) => body)).toEqual(['a.0', 'b.0', 'c.0']);
    });

    it('waits longer from one try to the next, and never longer than two seconds', async () => {
      write(one, 'a');
      one.there.deliver();
      await rig.turn();
      const waits: number[] = [];
      for (let tries = 0; tries < 9; tries++) {
        await rig.fail(FULL);
        waits.push(rig.clock.nextInMs ?? 0);
        await rig.clock.advanceAsync(waits.at(-1) ?? 0);
      }
      expect(waits).toEqual([50, 100, 200, 400, 800, 1_600, 2_000, 2_000, 2_000]);
    });

    it('says so to every line once, also to one that is added meanwhile, and when it is over', async () => {
      const heard: (string | undefined)[] = [];
      const three = rig.connect({ onFailure: (failure) => heard.push(failure?.message) });
      write(one, 'a');
      one.there.deliver();
      await rig.turn();
      for (const error of [FULL, FULL, BROKEN, BROKEN]) {
        await rig.fail(error);
        await rig.clock.advanceAsync(5_000);
      }
      const four = rig.connect();
      hear(one, two, three, four);
      for (const { line } of [one, two, three, four]) {
        expect(line.failure).toMatchObject({ code: 'STORE_FAILED', message: BROKEN.message });
      }
      await rig.succeed();
      hear(one, two, three, four);
      for (const { line } of [one, two, three, four]) expect(line.failure).toBeUndefined();
      expect(heard).toEqual([FULL.message, BROKEN.message, undefined]);
      expect(rig.failures.map((failure) => failure?.message)).toEqual(heard);
    });
  });

  describe('a line whose thread is gone', () => {
    it('has everything written that it posted, and is then forgotten', async () => {
      write(one, 'a');
      write(one, 'b');
      one.here.close();
      one.there.deliver();
      await rig.turn();
      await rig.succeed();
      one.there.deliverAll();
      await rig.turn();
      expect([...rig.medium.mails.values()].map(({ body }) => body)).toEqual(['a.0', 'b.0']);
      expect(rig.server.lineCount).toBe(1);
    });

    it('comes before the new line of its place', async () => {
      write(one, 'a');
      one.there.deliver();
      write(one, 'b');
      one.here.close();
      one.there.deliverAll();
      const again = rig.connect();
      write(again, 'c');
      await rig.turn();
      await rig.succeed();
      expect(next()).toEqual(['b', 'c']);
      await rig.succeed();
      await rig.turn();
      expect(rig.server.lineCount).toBe(2);
      hear(again);
      expect(done).toEqual(['c@3']);
    });
  });

  describe('bounded', () => {
    const bounded = (limits: { units?: number; mails?: number; characters?: number }): void => {
      rig = new JournalRig({ limits: { units: 99, mails: 99, characters: 9_999, ...limits } });
      one = rig.connect();
      two = rig.connect();
    };

    it.each([
      ['units', { units: 3 }, [3, 3, 1]],
      ['mails', { mails: 5 }, [3, 3, 1]],
      ['characters', { characters: 36 }, [3, 3, 1]],
      ['nothing', {}, [7]],
    ])(
      'by %s writes at most so much in one step, the oldest of all lines first',
      async (_, limits, sizes) => {
        bounded(limits);
        for (let n = 0; n < 7; n++) write(n % 2 === 0 ? one : two, `u${n}`, 2); // Twelve characters each.
        one.there.deliver();
        const written: string[][] = [];
        for (await rig.turn(); rig.asked.length > 0; await rig.succeed()) written.push(next());
        expect(written.map(({ length }) => length)).toEqual(sizes);
        expect(written.flat()).toEqual(['u0', 'u1', 'u2', 'u3', 'u4', 'u5', 'u6']);
      },
    );

    it('writes a unit alone that is larger than all that', async () => {
      bounded({ mails: 4 });
      write(one, 'large', 50);
      write(one, 'small');
      one.there.deliver();
      await rig.turn();
      expect(next()).toEqual(['large']);
      await rig.succeed();
      expect(next()).toEqual(['small']);
    });
  });

  describe('when it is closed', () => {
    it('writes what was posted and never read, answers, and closes the store', async () => {
      write(one, 'a');
      write(two, 'b');
      const closed = rig.server.close();
      await rig.turn();
      await rig.succeed();
      await closed;
      hear(one, two);
      expect(done).toEqual(['a@1', 'b@2']);
      expect(rig.medium.isOpen).toBe(false);
      await rig.server.close();
    });

    it('waits for nothing when nothing was posted', async () => {
      await rig.server.close();
      expect(rig.medium.isOpen).toBe(false);
      hear(one);
      expect(one.line.failure?.code).toBe('STORE_FAILED');
    });

    it('tries once more when the store fails, and then says so: nothing was acknowledged', async () => {
      write(one, 'a');
      one.there.deliver();
      await rig.turn();
      await rig.fail(FULL);
      write(one, 'b');
      const closed = rejection(rig.server.close());
      await rig.turn();
      expect(next()).toEqual(['a']);
      await rig.fail(BROKEN);
      expect(rig.asked).toEqual([]); // What follows from it is not written without it.
      expect(await closed).toEqual({ code: 'STORE_FAILED', message: BROKEN.message });
      hear(one);
      expect(done).toEqual([]);
      expect(rig.clock.pending).toBe(0);
      expect(rig.medium.isOpen).toBe(false);
    });

    it('is well when that last try succeeds', async () => {
      write(one, 'a');
      one.there.deliver();
      await rig.turn();
      const closed = rig.server.close();
      await rig.fail(FULL);
      await rig.succeed();
      await closed;
      hear(one);
      expect(done).toEqual(['a@1']);
    });
  });
});
