import type { PlaceHost } from '../threads/place-host.ts';
import type { FaultInjector } from './fault-injector.ts';
import type { LedgerCheck } from './ledger-check.ts';
import type { Scheduler } from './scheduler.ts';
import type { AgentView, SimulationView } from './simulate-options.ts';
import type { SimulatedOutside } from './simulated-outside.ts';
import type { TraceRecorder } from './trace-recorder.ts';
import type { VirtualThread } from './virtual-thread.ts';

export interface Viewed {
  readonly scheduler: Scheduler;
  readonly ledger: LedgerCheck;
  readonly faults: FaultInjector;
  readonly trace: TraceRecorder;
  readonly outside: SimulatedOutside;
  readonly hosts: ReadonlyMap<VirtualThread, PlaceHost>;
}

/** What users see of a simulation: always the present state of it. */
export function viewOf({ scheduler, ledger, faults, trace, outside, hosts }: Viewed): SimulationView {
  const agents = (): AgentView[] => [...hosts.values()].flatMap(agentsOf);
  return {
    get nowMs() {
      return scheduler.nowMs;
    },
    get steps() {
      return scheduler.steps;
    },
    get begun() {
      return ledger.begun;
    },
    get accepted() {
      return ledger.totals.accepted;
    },
    get handled() {
      return ledger.totals.handled;
    },
    get rejected() {
      return ledger.totals.rejected;
    },
    get expired() {
      return ledger.totals.expired;
    },
    get deadLettered() {
      return ledger.totals.deadLettered;
    },
    faults: faults.counts,
    events: trace.events,
    effects: outside.performed,
    agents,
    agent: (id) => agents().find((agent) => agent.id === id),
  };
}

function agentsOf({ place }: PlaceHost): AgentView[] {
  return [...place.cells()].map(({ row, status, waiting, inHand, state }) => ({
    id: row.id,
    place: place.id,
    status,
    waiting,
    inHand,
    state,
  }));
}
