import { describe, expect, it } from 'vitest';
import { MemoryMedium, MemoryStore } from '../../../runtime/journal/memory-store.ts';
import { storeFailed } from '../../../runtime/protocol/errors.ts';
import { settled, unitOf } from '../../fixtures/journal-rig.ts';
import { rejection } from '../../fixtures/until.ts';

describe('A store in memory', () => {
  it('fails as it is told to, writes nothing then, and goes on with the same number', async () => {
    const faults = [storeFailed('disk', 'write', 'the disk is full'), undefined];
    const store = new MemoryStore({
      beforeWrite: () => {
        const fault = faults.shift();
        if (fault !== undefined) throw fault;
      },
    });
    expect((await rejection(store.write([unitOf('a', 2)]))).message).toContain('the disk is full');
    expect(await store.mails({ limit: 9 })).toEqual([]);
    expect(await store.write([unitOf('a', 2)])).toEqual([1]);
  });

  it('is as slow as it is told to be, and writes in order all the same', async () => {
    const released: (() => void)[] = [];
    const store = new MemoryStore({ beforeWrite: () => new Promise((resolve) => released.push(resolve)) });
    const done: string[] = [];
    void store.write([unitOf('a')]).then(() => done.push('a'));
    void store.write([unitOf('b')]).then(() => done.push('b'));
    await settled();
    expect({ done, waiting: released.length, mails: await store.mails({ limit: 9 }) }).toEqual({
      done: [],
      waiting: 1,
      mails: [],
    });
    released[0]?.();
    await settled();
    expect(done).toEqual(['a']);
    released[1]?.();
    await settled();
    expect((await store.mails({ limit: 9 })).map(({ body }) => body)).toEqual(['a.0', 'b.0']);
  });

  it('loses in a crash what was being written, and nothing else; its medium can be opened again', async () => {
    const medium = new MemoryMedium();
    let release = (): void => undefined;
    const store = new MemoryStore({ medium });
    await store.write([unitOf('a')]);
    await store.close();
    const second = new MemoryStore({
      medium,
      beforeWrite: () => new Promise((resolve) => (release = resolve)),
    });
    const written = rejection(second.write([unitOf('b')]));
    await settled();
    second.crash();
    const third = new MemoryStore({ medium });
    release();
    expect((await written).code).toBe('STORE_FAILED');
    await second.close(); // It is not its medium any more.
    expect(() => new MemoryStore({ medium })).toThrow('is open already');
    expect(await third.write([unitOf('c')])).toEqual([2]);
    expect((await third.mails({ limit: 9 })).map(({ body }) => body)).toEqual(['a.0', 'c.0']);
  });
});
