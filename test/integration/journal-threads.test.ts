import { MessageChannel, Worker } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import { JournalServer } from '../../runtime/journal/journal-server.ts';
import { MemoryMedium, MemoryStore } from '../../runtime/journal/memory-store.ts';
import { newOrderMemory } from '../../runtime/journal/unit-order.ts';
import type { StoreBatch } from '../../runtime/protocol/store.ts';
import { systemSeams, nodeEventLoop } from '../../runtime/protocol/system-seams.ts';
import { nodePort } from '../../runtime/link/port.ts';
import type { ChainStep, ChainWorkerData } from '../fixtures/journal-chain.worker.ts';
import { namesOf } from '../fixtures/journal-rig.ts';
import { until } from '../fixtures/until.ts';

const MODULE = new URL('../fixtures/journal-chain.worker.ts', import.meta.url);
const THREADS = 3;

/** Threads in a ring that hand each other steps of work, and a journal that all of them write to. */
class Ring {
  readonly medium = new MemoryMedium();
  readonly server: JournalServer;
  readonly #posted = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  readonly #workers: Worker[] = [];

  constructor(steps: number, onWrite: (batches: readonly StoreBatch[]) => void) {
    const store = new MemoryStore({ medium: this.medium, beforeWrite: onWrite });
    this.server = new JournalServer({ store, seams: systemSeams(), loop: nodeEventLoop() });
    const between = Array.from({ length: THREADS }, () => new MessageChannel());
    const order = newOrderMemory();
    for (let at = 0; at < THREADS; at++) {
      const line = new MessageChannel();
      this.server.add(nodePort(line.port1));
      const from = (between[at] as MessageChannel).port2;
      const to = (between[(at + 1) % THREADS] as MessageChannel).port1;
      const posted = this.#posted.buffer as SharedArrayBuffer;
      const workerData: ChainWorkerData = { line: line.port2, from, to, order, steps, posted };
      this.#workers.push(new Worker(MODULE, { workerData, transferList: [line.port2, from, to] }));
    }
  }

  /** Units that the threads have posted. */
  get posted(): number {
    return Atomics.load(this.#posted, 0);
  }

  begin(chain: number): void {
    this.#workers[chain % THREADS]?.postMessage({ chain, step: 0 } satisfies ChainStep);
  }

  async end(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.terminate()));
  }
}

describe('A journal with threads that work for each other', () => {
  it('has written the causes of whatever it writes, at any moment', async () => {
    const CHAINS = 24;
    const STEPS = 400;
    const next = Array.from({ length: CHAINS }, () => 0);
    let units = 0;
    let largest = 0;
    const faults: string[] = [];
    const ring = new Ring(STEPS, (batches) => {
      largest = Math.max(largest, batches.length);
      for (const name of namesOf(batches)) {
        const [chain, step] = name.split('-').map(Number) as [number, number];
        if (next[chain] !== step) faults.push(`${name} after ${String(next[chain])}`);
        next[chain] = step + 1;
        units += 1;
      }
    });
    for (let chain = 0; chain < CHAINS; chain++) ring.begin(chain);
    await until('all steps are written', () => units === CHAINS * STEPS || faults.length > 0);
    expect(faults).toEqual([]);
    expect(largest).toBeGreaterThan(1);
    await ring.end();
    await ring.server.close();
  });

  it('writes all that a thread has posted when it is ended, and forgets it then', async () => {
    for (let round = 0; round < 5; round++) {
      const ring = new Ring(1_000_000, () => undefined);
      for (let chain = 0; chain < 12; chain++) ring.begin(chain);
      await until('they are in the middle of it', () => ring.posted > 2_000);
      await ring.end();
      const posted = ring.posted;
      await until('their lines are forgotten', () => ring.server.lineCount === 0);
      await ring.server.close();
      const written = [...ring.medium.mails.values()].filter(({ body }) => body.endsWith('.0')).length;
      // One a thread may have been posted and not counted any more.
      expect(written).toBeGreaterThanOrEqual(posted);
      expect(written).toBeLessThanOrEqual(posted + THREADS);
    }
  });
});
