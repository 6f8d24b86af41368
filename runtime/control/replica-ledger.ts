import type { Checkpoint } from '../cell/checkpoints.ts';
import { distance } from '../mailbox/flow-marks.ts';
import { MAIL_DATA, type MailData } from '../mailbox/mail.ts';

const FLOWS_PER_INCARNATION = 2 ** 26;

/**
 * Second copies of mail for `retry` recipients whose only other copy is in one thread, by flow.
 *
 * Which thread that is does not matter: the copies stay until the marks say that they are settled, however many
 * threads die over them.
 */
export class ReplicaLedger {
  readonly #flows = new Map<number, Map<number, MailData>>();

  keep(incarnation: number, flow: number, mail: MailData): void {
    const key = incarnation * FLOWS_PER_INCARNATION + flow;
    const mails = this.#flows.get(key);
    if (mails === undefined) this.#flows.set(key, new Map([[mail[MAIL_DATA.sequence], mail]]));
    else mails.set(mail[MAIL_DATA.sequence], mail);
  }

  /** The copy of one mail. */
  get(incarnation: number, flow: number, sequence: number): MailData | undefined {
    return this.#flows.get(incarnation * FLOWS_PER_INCARNATION + flow)?.get(sequence);
  }

  *[Symbol.iterator](): Iterator<MailData> {
    for (const mails of this.#flows.values()) yield* mails.values();
  }

  /** Lets go of what is settled; `settledOf` says up to where, undefined of a flow that is forgotten. */
  trim(settledOf: (incarnation: number, flow: number) => number | undefined): void {
    for (const [key, mails] of this.#flows) {
      const settled = settledOf(Math.floor(key / FLOWS_PER_INCARNATION), key % FLOWS_PER_INCARNATION);
      // Copies come in the order of their sequences, so the settled ones stand first.
      for (const sequence of mails.keys()) {
        if (settled !== undefined && distance(sequence, settled) > 0) break;
        mails.delete(sequence);
      }
      if (mails.size === 0) this.#flows.delete(key);
    }
  }
}

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
