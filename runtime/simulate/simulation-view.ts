import type { ThreadHost } from '../thread/thread-host.ts';
import type { FaultInjector } from './fault-injector.ts';
import type { ProcessLedgers } from './ledger-check.ts';
import type { Scheduler } from './scheduler.ts';
import type { AgentView, SimulationView } from './simulate-options.ts';
import type { SimulatedOutside } from './simulated-outside.ts';
import type { TraceRecorder } from './trace-recorder.ts';

export interface Viewed {
  readonly scheduler: Scheduler;
  readonly ledgers: ProcessLedgers;
  readonly faults: FaultInjector;
  readonly trace: TraceRecorder;
  readonly outside: SimulatedOutside;
  /** Times that the process was started. */
  readonly lives: () => number;
  /** Envelopes in the journal without an outcome. */
  readonly kept: () => number;
  /** The places that are up. */
  readonly hosts: () => Iterable<ThreadHost>;
}

/** Makes the view that users have of a simulation. It always shows the present state. */
export function viewOf({
  scheduler,
  ledgers,
  faults,
  trace,
  outside,
  lives,
  kept,
  hosts,
}: Viewed): SimulationView {
  const agents = (): AgentView[] => [...hosts()].flatMap(agentsOf);
  return {
    get nowMs() {
      return scheduler.nowMs;
    },
    get steps() {
      return scheduler.steps;
    },
    get lives() {
      return lives();
    },
    get kept() {
      return kept();
    },
    get begun() {
      return ledgers.begun;
    },
    get accepted() {
      return ledgers.totals.accepted;
    },
    get handled() {
      return ledgers.totals.handled;
    },
    get rejected() {
      return ledgers.totals.rejected;
    },
    get expired() {
      return ledgers.totals.expired;
    },
    get deadLettered() {
      return ledgers.totals.deadLettered;
    },
    faults: faults.counts,
    events: trace.events,
    effects: outside.performed,
    agents,
    agent: (id) => agents().find((agent) => agent.id === id),
  };
}

function agentsOf({ node }: ThreadHost): AgentView[] {
  return [...node.cells()].map(({ row, status, waiting, inHand, state }) => ({
    id: row.id,
    place: node.id,
    status,
    waiting,
    inHand,
    state,
  }));
}
