import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { isNotedAlive, notedProcessIn, noteOfThisProcess } from '../../../runtime/os/noted-process.ts';
import { identityOf } from '../../../runtime/os/process-identity.ts';

const NOBODY = 2 ** 31 - 1;

describe('a process that was noted', () => {
  it('is read again as it was noted, and lives while it does', () => {
    const noted = notedProcessIn(JSON.stringify(noteOfThisProcess()));
    expect(noted).toEqual(noteOfThisProcess());
    expect(isNotedAlive(noteOfThisProcess())).toBe(true);
  });

  it('is known by its number alone where there is nothing else', () => {
    expect(isNotedAlive({ pid: process.pid })).toBe(true);
    expect(isNotedAlive({ pid: NOBODY })).toBe(false);
  });

  it.skipIf(!existsSync('/proc/self/stat'))(
    'is gone when another has its number, and when the machine was started again',
    () => {
      const identity = identityOf(process.pid);
      if (identity === undefined) throw new Error('there is no identity where there is /proc');
      expect(isNotedAlive({ ...identity, mark: 'any' })).toBe(true);
      expect(isNotedAlive({ ...identity, start: `${identity.start}0` })).toBe(false);
      expect(isNotedAlive({ ...identity, machine: 'before' })).toBe(false);
    },
  );

  it.each(['', '{}', '7', '{"pid":0}', '{"pid":1,"start":"2"}', '{"pid":1,"name":"init"}'])(
    'is none in the text %j',
    (text) => {
      expect(notedProcessIn(text)).toBeUndefined();
    },
  );
});
