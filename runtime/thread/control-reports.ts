import type { ControlThread, ReplicatedMail } from '../link/outbox.ts';
import { sendCopies } from '../link/second-copies.ts';
import type { FlowSlab } from '../mailbox/flow-marks.ts';
import type { NodeReport } from './control-protocol.ts';

/** What the outbox of a thread reports to the control thread. */
export class ControlReports implements ControlThread {
  readonly #incarnation: number;
  readonly #tell: (report: NodeReport) => void;

  constructor(incarnation: number, tell: (report: NodeReport) => void) {
    this.#incarnation = incarnation;
    this.#tell = tell;
  }

  keepFlows({ index, memory }: FlowSlab): void {
    this.#tell({ t: 'flow-slab', incarnation: this.#incarnation, index, memory });
  }

  keepNames(memory: SharedArrayBuffer): void {
    this.#tell({ t: 'name-slab', incarnation: this.#incarnation, memory });
  }

  keepCopies(mails: readonly ReplicatedMail[]): void {
    sendCopies(mails, (kept) => this.#tell({ t: 'kept', kept }));
  }
}
