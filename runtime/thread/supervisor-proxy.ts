import type { CellSupervisor } from '../cell/cell-thread.ts';
import type { Cell } from '../cell/cell.ts';
import { isFromOutside } from '../cell/actor-life.ts';
import { COUNT } from '../observe/thread-counters.ts';
import { type ErrorData, errorToData, isOrreryError, reasonOf, stackOf } from '../protocol/errors.ts';
import type { Taint } from '../protocol/taint.ts';
import type { AgentOffer } from '../routing/offered-profile.ts';
import type { DiedOver } from '../supervision/supervisor.ts';
import { isSnapshotUnknown } from '../upgrade/restore.ts';
import type { NodeReport } from './control-protocol.ts';
import type { ThreadNode } from './thread-node.ts';

/** Stands for the supervisor, which lives in the control thread: tells it what becomes of the cells of this thread. */
export class SupervisorProxy implements CellSupervisor {
  readonly #node: ThreadNode;
  readonly #tell: (report: NodeReport) => void;

  constructor(node: ThreadNode, tell: (report: NodeReport) => void) {
    this.#node = node;
    this.#tell = tell;
  }

  start(cell: Cell): void {
    const { slot } = cell.row;
    const { journal } = this.#node;
    const snapshot = journal?.states.leftBy(cell);
    cell.start(snapshot).then(
      (isRunning) => {
        if (!isRunning) return;
        journal?.states.tookUp(cell);
        this.#tell({ t: 'started', slot });
      },
      (error: unknown) => {
        if (snapshot === undefined || !isSnapshotUnknown(error))
          return this.crashed(cell, error, cell.lives.taint, { fault: optionFault(cell, error) });
        cell.park();
        journal?.states.tookUp(cell);
        this.#tell({ t: 'parked', slot, snapshot, why: errorToData(error) });
      },
    );
  }

  crashed(
    cell: Cell,
    error: unknown,
    taint: Taint | undefined,
    { over, fault }: { readonly over?: DiedOver | undefined; readonly fault?: ErrorData | undefined } = {},
  ): void {
    const { counters, outbox } = this.#node;
    counters[COUNT.crashed] = (counters[COUNT.crashed] as number) + 1;
    outbox.flush();
    const charged = !isFromOutside(error);
    const last = { reason: reasonOf(error), stack: stackOf(error), taint };
    this.#tell({ t: 'crashed', slot: cell.row.slot, ...last, charged, over, fault });
  }

  exited({ row }: Cell, over: DiedOver | undefined): void {
    this.#tell({ t: 'exited', slot: row.slot, over });
  }

  offers({ row }: Cell, offer: AgentOffer): void {
    this.#tell({ t: 'offers', slot: row.slot, offer });
  }

  hasProcess({ row }: Cell, pid: number | undefined): void {
    this.#tell({ t: 'process', slot: row.slot, pid });
  }
}

/** What of its options an agent's start has found wrong, if it is one that says so. */
const optionFault = ({ definition }: Cell, error: unknown): ErrorData | undefined =>
  definition.checksOptions && isOrreryError(error) && error.code === 'INVALID_OPTIONS'
    ? errorToData(error)
    : undefined;
