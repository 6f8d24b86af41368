import type { Recipient, ThreadDelivery } from '../link/outbox.ts';
import type { InFlow } from '../mailbox/in-flow.ts';
import type { Mail } from '../mailbox/mail.ts';
import { TRAFFIC } from '../observe/traffic-ring.ts';
import { errorToData, notHere } from '../protocol/errors.ts';
import type { ThreadNode } from './thread-node.ts';

/** Takes mail from the outbox to the cells of the same thread. */
export class NodeDelivery implements ThreadDelivery {
  readonly #node: ThreadNode;

  constructor(node: ThreadNode) {
    this.#node = node;
  }

  recipientIn(slot: number): Recipient | undefined {
    return this.#node.cellOf(slot);
  }

  begin(): void {
    this.#node.turns.beginUnlessRunning();
  }

  deliver(recipient: Recipient | undefined, mail: Mail): void {
    const node = this.#node;
    if (recipient === undefined)
      return node.refuseUnheld(mail, errorToData(notHere(mail.recipient, node.id)));
    node.log.traffic.note(TRAFFIC.received, mail, node.turns.nowMs, undefined);
    recipient.deliver(mail, (mail.flow as InFlow).lane);
  }
}
