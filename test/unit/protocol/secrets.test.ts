import { describe, expect, it } from 'vitest';
import { systemSeams } from '../../../runtime/protocol/system-seams.ts';
import { Scheduler } from '../../../runtime/simulate/scheduler.ts';
import { VirtualThread } from '../../../runtime/simulate/virtual-thread.ts';

const MANY = 3_000;

describe('secrets', () => {
  it('are 128 bits, of which each is now 0 and now 1, and no two are alike', () => {
    const { newSecret } = systemSeams();
    const made = Array.from({ length: MANY }, newSecret);
    expect(new Set(made).size).toBe(MANY);
    const ones = new Array<number>(128).fill(0);
    for (const text of made) {
      const bytes = Buffer.from(text, 'base64url');
      expect(bytes).toHaveLength(16);
      for (const [at] of ones.entries())
        ones[at] = (ones[at] ?? 0) + (((bytes[at >> 3] ?? 0) >> (at & 7)) & 1);
    }
    // Of so many fair bits less than a third are ones, or more than two thirds, once in 10^75.
    for (const count of ones) expect(Math.abs(count - MANY / 2)).toBeLessThan(MANY / 6);
  });

  it('are no others in the same simulation, and draw nothing from its chance', () => {
    const threadOf = (seed: number) =>
      new VirtualThread(new Scheduler({} as never, { seed, epochMs: 0 }), 1, 'one', seed).seams;
    const [one, same, other] = [threadOf(7), threadOf(7), threadOf(8)];
    const secrets = [one.newSecret(), one.newSecret()];
    expect([same.newSecret(), same.newSecret()]).toEqual(secrets);
    expect(other.newSecret()).not.toBe(secrets[0]);
    expect(one.random()).toBe(threadOf(7).random());
  });
});
