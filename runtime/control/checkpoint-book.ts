import type { Checkpoint } from '../cell/checkpoints.ts';
import { distance } from '../mailbox/flow-marks.ts';

/** The last checkpoints of the envelopes of all threads, for those that outlive the thread which worked on them. */
export class CheckpointReplicas {
  readonly #kept = new Map<string, Checkpoint>();

  [Symbol.iterator](): Iterator<Checkpoint> {
    return this.#kept.values();
  }

  keep(kept: Checkpoint): void {
    this.#kept.set(`${kept.incarnation}/${kept.flow}/${kept.sequence}`, kept);
  }

  /** Lets go of what is settled; `settledOf` says up to where, undefined of a flow that is forgotten. */
  trim(settledOf: (incarnation: number, flow: number) => number | undefined): void {
    for (const [key, { incarnation, flow, sequence }] of this.#kept) {
      const settled = settledOf(incarnation, flow);
      if (settled === undefined || distance(sequence, settled) <= 0) this.#kept.delete(key);
    }
  }
}
