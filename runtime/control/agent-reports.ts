import type { Supervisor } from '../supervision/supervisor.ts';
import type { AgentTable } from './agent-table.ts';
import type { AgentOrders } from './agent-orders.ts';
import type { AgentProcesses } from './agent-processes.ts';
import type { FirstStarts } from './first-starts.ts';
import type { NodeReport } from '../thread/control-protocol.ts';

/** What a place says of the life of one of its agents. */
export type AgentReport = NodeReport & {
  readonly t: 'started' | 'crashed' | 'exited' | 'parked' | 'process';
};

export interface AgentReportsDeps {
  readonly agents: AgentTable;
  readonly supervisor: Supervisor;
  readonly orders: AgentOrders;
  readonly processes: AgentProcesses;
  readonly firstStarts: FirstStarts;
  /** The system stops: what ends now is no death. */
  readonly isStopping: () => boolean;
}

/** Takes in what places report of the lives of their agents: the supervisor decides what follows. */
export class AgentReports {
  readonly #deps: AgentReportsDeps;

  constructor(deps: AgentReportsDeps) {
    this.#deps = deps;
  }

  hear(message: AgentReport): void {
    const { agents, processes, isStopping } = this.#deps;
    if (message.t === 'process') {
      processes.note(message.slot, message.pid);
      return;
    }
    const agent = agents.inSlot(message.slot);
    if (agent === undefined || isStopping()) return;
    if (message.t === 'parked') agent.parked = { snapshot: message.snapshot, why: message.why };
    this.#hearOfLife(agent.id, message);
  }

  #hearOfLife(id: string, message: Exclude<AgentReport, { t: 'process' }>): void {
    const { supervisor, orders, processes, firstStarts } = this.#deps;
    switch (message.t) {
      case 'started':
        supervisor.started(id);
        firstStarts.ended(id);
        return;
      case 'crashed': {
        const { reason, stack, taint, charged, over, fault } = message;
        processes.note(message.slot, undefined);
        if (fault !== undefined && firstStarts.isNew(id)) {
          supervisor.misconfigured(id, { reason, stack, taint });
          orders.endStopped([id]);
          firstStarts.ended(id, fault);
          return;
        }
        supervisor.crashed(id, { reason, stack, taint, charged, over });
        orders.endStopped([id]);
        if (charged || supervisor.status(id).status === 'stopped') firstStarts.ended(id);
        return;
      }
      case 'parked':
        supervisor.parked(id, message.why.message);
        firstStarts.ended(id);
        return;
      case 'exited':
        supervisor.exited(id, message.over);
        orders.endStopped([id]);
        firstStarts.ended(id);
        return;
    }
  }
}
