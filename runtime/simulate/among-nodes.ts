import type { Cell } from '../cell/cell.ts';
import type { Mail } from '../mailbox/mail.ts';
import type { MakeTransport } from '../peers/peer-boot.ts';
import type { VirtualThread } from './virtual-thread.ts';

/** What a node is given that is one of several: how it reaches the others, and who is told what happens between them. */
export interface AmongNodes {
  /** Makes the transports of a thread. */
  transportsOf(thread: VirtualThread): MakeTransport;
  /** An agent of this node begins on an envelope. */
  began(cell: Cell, mail: Mail): void;
  /** An envelope for an agent of another node was handled. */
  handled(mail: Mail): void;
}
