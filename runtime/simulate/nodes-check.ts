import type { Cell } from '../cell/cell.ts';
import { type Mail, NO_ASK } from '../mailbox/mail.ts';
import type { Check } from './invariants.ts';

/** An id of a simulation: the thread that made it, and how many it had made by then. */
const ID = /^(?<origin>.+)-(?<serial>[0-9a-z]+)$/;

/**
 * Checks the promises about envelopes between nodes: what is delivered `once` is begun once, whatever connections and nodes go
 * through; what one sender sends to one recipient is begun in order; and whoever asks a capability is answered by somebody who
 * has begun on it.
 */
export class NodesCheck implements Check {
  readonly violations: string[] = [];
  /** Recipients that have begun on an envelope, by its id. */
  readonly #begun = new Map<string, Set<string>>();
  /** By recipient, sender and its thread: the serial of the last envelope that was begun. */
  readonly #latest = new Map<string, number>();

  /** An agent of `node` has begun on an envelope. */
  began(node: string, cell: Cell, mail: Mail): void {
    const { extras, id, sender } = mail;
    // What other nodes send is on behalf of somebody outside.
    if (extras?.outsider === undefined) return;
    const recipient = `${node}/${cell.row.id}`;
    const isAgain = this.#note(id, recipient);
    if (cell.isRetry(mail)) return;
    if (isAgain) {
      this.violations.push(`${recipient} has begun twice on ${id} of ${sender}, which is delivered once`);
      return;
    }
    // An agent that waits for an answer may get call-backs of its own asks out of order.
    if (cell.inHand <= cell.definition.concurrency) this.#checkOrder(recipient, mail);
  }

  /** An envelope for an agent of another node was handled. */
  handled({ id, ask, capability, recipient, extras }: Mail): void {
    if (ask === NO_ASK || capability === undefined || extras?.channel !== undefined) return;
    if (!this.#begun.has(id))
      this.violations.push(`${recipient} has answered ${id}, and nobody has begun on it`);
  }

  /** Whether this recipient had begun on it before. */
  #note(id: string, recipient: string): boolean {
    const recipients = this.#begun.get(id) ?? new Set();
    this.#begun.set(id, recipients);
    const isAgain = recipients.has(recipient);
    recipients.add(recipient);
    return isAgain;
  }

  #checkOrder(recipient: string, { id, sender }: Mail): void {
    const { origin, serial } = ID.exec(id)?.groups ?? {};
    if (origin === undefined || serial === undefined) return;
    const flow = `${recipient} ${sender} ${origin}`;
    const number = Number.parseInt(serial, 36);
    const latest = this.#latest.get(flow);
    if (latest !== undefined && number < latest)
      this.violations.push(
        `${recipient} has begun on ${id} of ${sender} after a later one of the same sender`,
      );
    else this.#latest.set(flow, number);
  }
}
