import { describe, expect, it } from 'vitest';
import { Chance } from '../../../runtime/simulate/chance.ts';
import { DiskFaults, type DiskFaultsDeps } from '../../../runtime/simulate/disk-faults.ts';
import { noFaults } from '../../../runtime/simulate/faults.ts';
import { SimulatedDisk } from '../../../runtime/simulate/simulated-disk.ts';
import type { VirtualThread } from '../../../runtime/simulate/virtual-thread.ts';

const thread = {} as VirtualThread;
const unit = { mails: [{ recipient: 'mars', body: '{}' }], settled: [], records: [] };

type Ring = ReturnType<SimulatedDisk['rings']['open']>;

/** A disk whose writes are done by hand; `isFull` decides when they are. */
function disk(seed = 1) {
  const written: number[][] = [];
  const underWay: (() => void)[] = [];
  const state = { isFull: false };
  const made = new SimulatedDisk({
    fate: () => ({ ms: 1, isFull: () => state.isFull }),
    later: (_thread, _ms, run) => underWay.push(run),
    chance: new Chance(seed, 'disk'),
    onWritten: (_batches, firstMails) => written.push([...firstMails]),
  });
  /** Lets the oldest write that is under way get done. */
  const finish = async (): Promise<void> => {
    for (let turn = 0; turn < 5 && underWay.length === 0; turn++) await Promise.resolve();
    underWay.shift()?.();
  };
  return { disk: made, written, finish, state };
}

describe('A simulated disk (F-03)', () => {
  it('has what was written, from one process to the next', async () => {
    const { disk: made, written, finish } = disk();
    const store = made.open(thread);
    const one = store.write([unit, unit]);
    await finish();
    expect(await one).toEqual([1, 2]);
    made.crash({ powerLoss: true });
    expect(made.mails.size).toBe(2);
    expect(await made.open(thread).mails({ limit: 10 })).toHaveLength(2);
    expect(written).toEqual([[1, 2]]);
  });

  it('fails a write that comes to its end when it is full, and takes it later', async () => {
    const { disk: made, finish, state } = disk();
    const store = made.open(thread);
    const failing = store.write([unit]);
    state.isFull = true;
    await finish();
    await expect(failing).rejects.toMatchObject({ code: 'STORE_FAILED' });
    state.isFull = false;
    const again = store.write([unit]);
    await finish();
    expect(await again).toEqual([1]);
  });

  it('has of a write that a crash cuts off all or nothing, and nobody is told', async () => {
    const sizes = new Set<number>();
    for (let seed = 1; seed <= 20; seed++) {
      const { disk: made, written, finish } = disk(seed);
      let isTold = false;
      void made
        .open(thread)
        .write([unit, unit])
        .then(
          () => {
            isTold = true;
          },
          () => undefined,
        );
      for (let turn = 0; turn < 5; turn++) await Promise.resolve();
      made.crash({ powerLoss: false });
      await finish();
      for (let turn = 0; turn < 5; turn++) await Promise.resolve();
      expect(isTold).toBe(false);
      expect(written).toHaveLength(made.mails.size === 0 ? 0 : 1);
      sizes.add(made.mails.size);
    }
    expect([...sizes].sort()).toEqual([0, 2]);
  });

  it('keeps what threads had begun on over the end of the process, and not over a loss of power', () => {
    const { disk: made } = disk();
    const [one, other] = [1, 2].map((incarnation) => made.rings.open('j', incarnation, () => [])) as [
      Ring,
      Ring,
    ];
    one.note([7, 8]);
    one.retract([8]);
    other.note([9]);
    made.crash({ powerLoss: false });
    expect([...made.rings.read('j')].sort()).toEqual([7, 9]);
    made.crash({ powerLoss: true });
    expect(made.rings.read('j').size).toBe(0);
    one.close();
  });
});

describe('What goes wrong with a disk (F-03)', () => {
  const faultsOf = (given: DiskFaultsDeps['faults'] = {}) => {
    const at = { nowMs: 0 };
    const counts = noFaults();
    const told: string[] = [];
    const chances = {
      slowDisk: new Chance(1, 'slow'),
      fullDisk: new Chance(1, 'full'),
      disk: new Chance(1, 'disk'),
    };
    const note = (reason: string): void => void told.push(reason);
    return {
      faults: new DiskFaults({ chances, faults: given, counts, nowMs: () => at.nowMs, note }),
      at,
      counts,
      told,
    };
  };

  it('is nothing, unless it is asked for', () => {
    const { faults, counts } = faultsOf();
    for (let write = 0; write < 100; write++) {
      const { ms, isFull } = faults.write(true);
      expect(ms).toBeLessThan(5);
      expect(isFull()).toBe(false);
    }
    expect(counts).toEqual(noFaults());
  });

  it('is by chance, as often as it may be, and while the team is up', () => {
    const { faults, counts } = faultsOf({
      slowDisk: { probability: 0.5, ms: [100, 200] },
      fullDisk: { probability: 1, ms: [10, 20], most: 3 },
    });
    for (let write = 0; write < 50; write++) faults.write(false);
    expect(counts).toEqual(noFaults());
    for (let write = 0; write < 50; write++) faults.write(true);
    expect(counts.fullDisk).toBe(3);
    expect(counts.slowDisk).toBeGreaterThan(10);
    expect(counts.slowDisk).toBeLessThan(40);
  });

  it('slows one write down that is to be slow, and is full for as long as it is to be', () => {
    const { faults, at, told } = faultsOf();
    faults.slow(500);
    expect(faults.write(true).ms).toBeGreaterThanOrEqual(500);
    expect(faults.write(true).ms).toBeLessThan(5);
    faults.fill(1_000);
    const { isFull } = faults.write(true);
    expect(isFull()).toBe(true);
    at.nowMs = 1_000;
    expect(isFull()).toBe(false);
    faults.fill(1_000);
    faults.mend();
    expect(faults.write(true).isFull()).toBe(false);
    expect(told).toEqual(['a write takes long', 'the disk is full', 'the disk is full']);
  });
});
