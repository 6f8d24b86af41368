import { type MachineActions, MachineHost } from '../../runtime/machine/machine-host.ts';
import type { ErrorData } from '../../runtime/protocol/errors.ts';
import type { ActorRow } from '../../runtime/protocol/roster.ts';
import type { Clock } from '../../runtime/protocol/seams.ts';
import { mergeTaint, type Taint } from '../../runtime/protocol/taint.ts';
import { assignmentMachine } from './assignment.machine.ts';
import type { HandedAssignment, SwarmReach, AssignmentOrder, AssignmentReports } from './swarm-reach.ts';
import type { StoredRecord } from './stored-record.ts';
import { subTaskIn, type SwarmRecord } from './swarm-record.ts';
import type { SwarmSubTask } from './swarm-session.ts';

/** What is reported on an assignment; `isSaid`: the agent itself says so, in an envelope. */
export type Report =
  | { readonly result: unknown }
  | { readonly error: ErrorData; readonly isSaid?: boolean | undefined };

/** What becomes of an assignment, for the swarm. */
export interface AssignmentListener {
  sent(assignment: LiveAssignment, envelopeId: string): void;
  tainted(assignment: LiveAssignment, taint: Taint): void;
  /** Its agent has given a sign of life. */
  heard(assignment: LiveAssignment): void;
  checkpointed(assignment: LiveAssignment, partial: unknown): void;
  answered(assignment: LiveAssignment, report: Report): void;
  orphaned(): void;
  suspended(): void;
  /** It had been withdrawn, and now its agent has answered or was made to stop. */
  freed(): void;
}

/** `loads` is what the coordinator knows of its agents, over all its swarms; `record` sees to what is not kept. */
export interface LiveAssignmentsDeps {
  readonly record: Pick<StoredRecord, 'attempt' | 'insist'>;
  readonly clock: Pick<Clock, 'now' | 'setTimer'>;
  readonly reach: SwarmReach;
  readonly events: AssignmentListener;
  readonly loads: AgentLoads;
}

/** What a swarm has handed out, and still listens to. */
export class LiveAssignments {
  readonly #deps: LiveAssignmentsDeps;
  readonly #live = new Map<string, LiveAssignment>();
  readonly #putDown = new WeakSet<LiveAssignment>();

  constructor(deps: LiveAssignmentsDeps) {
    this.#deps = deps;
  }

  /** The assignment of a sub-task that stands, not yet handed over; it counts as its agent's load until it is over. */
  open(record: SwarmRecord, subTaskId: string, nowMs: number): LiveAssignment {
    const order = orderOf(record, subTaskId, nowMs);
    const { loads, ...deps } = this.#deps;
    const key = keyOf(subTaskId, order.epoch);
    const unload = loads.add(order.agentId, deps.reach.loadOf(order.agentId));
    const onOver = (): void => {
      this.#live.delete(key);
      unload();
    };
    const assignment = new LiveAssignment(order, { ...deps, graceMs: record.limits.graceMs, onOver });
    this.#live.set(key, assignment);
    return assignment;
  }

  /** The assignment, if it is still listened to. */
  on(subTaskId: string, epoch: number): LiveAssignment | undefined {
    return this.#live.get(keyOf(subTaskId, epoch));
  }

  /** Those of a sub-task as actors, by epoch and agent. */
  actorsOf(subTaskId: string): readonly ActorRow[] {
    return [...this.#live.values()]
      .filter(({ order }) => order.subTaskId === subTaskId)
      .map((one) => one.actor);
  }

  /** How many assignments keep an agent busy here, those that were withdrawn and not answered included. */
  readonly heldBy = (agentId: string): number => {
    let held = 0;
    for (const one of this.#live.values())
      if (one.order.agentId === agentId && !this.#putDown.has(one)) held += 1;
    return held;
  };

  /** The agent has said that it is free: what was withdrawn from it does not keep it busy. */
  putDown(agentId: string): void {
    for (const one of this.#live.values())
      if (one.order.agentId === agentId && one.isWithdrawn) this.#putDown.add(one);
  }

  releaseAll(): void {
    for (const one of [...this.#live.values()]) one.release();
  }
}

const keyOf = (subTaskId: string, epoch: number): string => `${epoch} ${subTaskId}`;

interface LiveAssignmentDeps extends Omit<LiveAssignmentsDeps, 'loads'> {
  readonly graceMs: number;
  readonly onOver: () => void;
}

/** One assignment that an agent has: its machine, and what is heard of it. */
export class LiveAssignment {
  readonly order: AssignmentOrder;
  readonly #deps: LiveAssignmentDeps;
  readonly #machine: MachineHost<typeof assignmentMachine>;
  #handed: HandedAssignment | undefined;
  #wasHandedAgain = false;

  constructor(order: AssignmentOrder, deps: LiveAssignmentDeps) {
    this.order = order;
    this.#deps = deps;
    const { graceMs, onOver, events, record } = deps;
    const clock: LiveAssignmentDeps['clock'] = {
      now: () => deps.clock.now(),
      setTimer: (ms, fire) => deps.clock.setTimer(ms, () => void record.attempt(fire)),
    };
    const { swarmId, subTaskId, epoch } = order;
    const actions: MachineActions<typeof assignmentMachine> = {
      unload: onOver,
      cancelWork: ({ event }) => this.#handed?.cancel('reason' in event ? event.reason : 'it was taken away'),
      stopListening: () => this.#handed?.release(),
      free: () => events.freed(),
    };
    this.#machine = new MachineHost(
      assignmentMachine,
      {
        id: `${swarmId} ${subTaskId} ${epoch}`,
        clock,
        actions,
        watch: deps.reach.steps,
        facts: () => ({ assignee: order.agentId, epoch }),
      },
      { input: { graceMs } },
    );
  }

  /** The assignment as an actor, by epoch and agent. */
  get actor(): ActorRow {
    const { epoch, agentId } = this.order;
    return this.#machine.row(`${epoch} ${agentId}`);
  }

  /** It is the agent's, whether it is handed over already or not. */
  get isActive(): boolean {
    return this.#machine.matches('active');
  }

  get isWithdrawn(): boolean {
    return this.#machine.matches('withdrawn');
  }

  /** It was handed over by a coordinator before this one. */
  get wasHandedAgain(): boolean {
    return this.#wasHandedAgain;
  }

  /** Hands it over. */
  begin(): void {
    this.#handed = this.#deps.reach.hand(this.order, this.#reports());
  }

  /** Goes on listening to what was handed over in this envelope before; false when that is not possible. */
  goOn(envelopeId: string | undefined): boolean {
    this.#wasHandedAgain = true;
    this.#handed = this.#deps.reach.handAgain(this.order, envelopeId, this.#reports());
    if (this.#handed === undefined) this.release();
    return this.#handed !== undefined;
  }

  /** It is not the agent's any more; what the agent still says is late. */
  withdraw(): void {
    this.#machine.send({ type: 'assignment.withdrawn' });
  }

  /** Cancels what the agent is at. */
  cancel(reason: string): void {
    this.#machine.send({ type: 'assignment.cancelled', reason });
  }

  /** It has been reported on in another way: what the agent's handler returns is of no interest. */
  release(): void {
    this.#machine.send({ type: 'assignment.released' });
  }

  #reports(): AssignmentReports {
    const { events, record } = this.#deps;
    const whileHeard = (then: () => void): void => {
      if (!this.#machine.isOver) record.attempt(then);
    };
    const untilKept = (then: () => void): void =>
      record.insist(() => {
        if (!this.#machine.isOver) then();
      });
    return {
      sent: (envelopeId) => untilKept(() => events.sent(this, envelopeId)),
      progressed: ({ partial }) =>
        whileHeard(() => {
          if (partial === undefined) events.heard(this);
          else events.checkpointed(this, partial);
        }),
      tainted: (taint) => untilKept(() => events.tainted(this, taint)),
      completed: (result) => untilKept(() => this.#answered(() => events.answered(this, { result }))),
      failed: (error, isSaid) =>
        untilKept(() => this.#answered(() => events.answered(this, { error, isSaid }))),
      orphaned: () => untilKept(() => this.#answered(() => events.orphaned())),
      suspended: () => whileHeard(() => events.suspended()),
    };
  }

  #answered(tell: () => void): void {
    const wasWithdrawn = this.isWithdrawn;
    // What the store does not take throws: then it is listed as before, until that is tried again.
    tell();
    if (!this.#machine.isOver) this.#machine.send({ type: 'agent.answered' });
    if (wasWithdrawn) this.#deps.events.freed();
  }
}

/** How long work may take at most in a swarm that has no deadline: its lease is what ends it, long before. */
const MAX_WORK_MS = 86_400_000;

/** The assignment that stands, as it is handed to its agent. */
export function orderOf(record: SwarmRecord, subTaskId: string, nowMs: number): AssignmentOrder {
  const { session, limits, justification, behalf } = record;
  const subTask = subTaskIn(record, subTaskId) as SwarmSubTask;
  const { epoch, assignedAgent, capability, requiredCapabilities, description, partial } = subTask;
  return {
    swarmId: session.id,
    correlationId: session.correlationId,
    subTaskId,
    epoch,
    agentId: assignedAgent,
    capability,
    requiredCapabilities,
    description,
    input: inputOf(subTask, session.sharedState),
    partial: partial?.value,
    taint: mergeTaint(session.taint, taintOf(record, subTask)),
    behalf,
    justification,
    leaseMs: limits.leaseMs,
    deadlineAtMs: limits.timeoutMs === undefined ? nowMs + MAX_WORK_MS : session.createdAt + limits.timeoutMs,
  };
}

/** Where the results came from that it is given. */
function taintOf(record: SwarmRecord, { taint, partial, inputFrom }: SwarmSubTask): Taint | undefined {
  const own = partial === undefined ? undefined : taint;
  return Object.values(inputFrom).reduce(
    (all: Taint | undefined, id) => mergeTaint(all, subTaskIn(record, id)?.taint),
    own,
  );
}

/** The input of the sub-task, with the results of others and the last partial result where the plan wants them. */
function inputOf(
  { input, inputFrom, partial, resumeAs }: SwarmSubTask,
  sharedState: Readonly<Record<string, unknown>>,
): unknown {
  const results = Object.entries(inputFrom).map(([field, id]) => [field, sharedState[id]] as const);
  const resumed = resumeAs === undefined || partial === undefined ? [] : [[resumeAs, partial.value] as const];
  if (results.length + resumed.length === 0) return input;
  const given = typeof input === 'object' && input !== null ? input : {};
  return { ...given, ...Object.fromEntries([...results, ...resumed]) };
}

/** What a coordinator has given an agent, over all its swarms. */
interface Given {
  open: number;
  /** Given since `told` was what everybody knew of the agent: it may be on its way still. */
  ahead: number;
  told: number;
}

/**
 * The load of agents: what everybody knows of them, and what a coordinator has given them since.
 *
 * `told` is what an agent has in hand and waiting, whoever gave it; that follows a little later.
 */
export class AgentLoads {
  readonly #given = new Map<string, Given>();

  readonly of = (agentId: string, told: number): number => {
    const given = this.#given.get(agentId);
    if (given === undefined) return told;
    return Math.max(given.open, told === given.told ? told + given.ahead : told);
  };

  /** Counts one more; the returned function, called once, takes it away again. */
  add(agentId: string, told: number): () => void {
    const given = this.#given.get(agentId) ?? { open: 0, ahead: 0, told };
    this.#given.set(agentId, given);
    if (given.told !== told) given.ahead = 0;
    given.told = told;
    given.open += 1;
    given.ahead += 1;
    return () => {
      given.open -= 1;
      given.ahead = Math.min(given.ahead, given.open);
      if (given.open === 0) this.#given.delete(agentId);
    };
  }
}
