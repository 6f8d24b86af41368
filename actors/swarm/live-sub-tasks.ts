import { MachineHost, type PersistedTimer } from '../../runtime/machine/machine-host.ts';
import { type ErrorData, errorToData } from '../../runtime/protocol/errors.ts';
import type { ActorRow } from '../../runtime/protocol/roster.ts';
import type { Clock } from '../../runtime/protocol/seams.ts';
import { mergeTaint, type Taint } from '../../runtime/protocol/taint.ts';
import { newestOfEach } from '../negotiator/newest-of-each.ts';
import { type AgentLoads, type LiveAssignment, LiveAssignments, type Report } from './live-assignments.ts';
import {
  MAX_LATENESS,
  type Reporter,
  type SubTaskContext,
  type SubTaskEvent,
  subTaskMachine,
} from './sub-task.machine.ts';
import { isUnkeepable, type StoredRecord } from './stored-record.ts';
import { decideEnd } from './swarm-decisions.ts';
import type { SwarmNotifier } from './swarm-notifier.ts';
import type { SwarmReach } from './swarm-reach.ts';
import {
  endAssignment,
  latestEpochOf,
  subTaskIn,
  type SwarmRecord,
  withSession,
  withSubTask,
} from './swarm-record.ts';
import type {
  AssignmentEnd,
  LateReport,
  SubTaskStatus,
  SwarmFault,
  SwarmSession,
  SwarmSubTask,
} from './swarm-session.ts';
import { noLongerYours, notInSwarm } from './swarms.ts';

/**
 * - `onMoved`    something has changed by which others may get something to do.
 * - `onGone`     the agent cannot be reached, for this reason.
 * - `onOrphaned` the work in which the swarm was made is over.
 * - `onSuspended` the system stops.
 */
export interface SubTaskListener {
  readonly onMoved: () => void;
  readonly onGone: (agentId: string, reason: string) => void;
  readonly onOrphaned: () => void;
  readonly onSuspended: () => void;
}

/** `loads` is what the coordinator knows of its agents, over all its swarms. */
export interface LiveSubTasksDeps {
  readonly record: StoredRecord;
  readonly notifier: SwarmNotifier;
  readonly clock: Pick<Clock, 'now' | 'setTimer'>;
  readonly reach: SwarmReach;
  readonly loads: AgentLoads;
  readonly events: SubTaskListener;
}

type FailureReport = Extract<Report, { readonly error: ErrorData }>;
type SubTaskHost = MachineHost<typeof subTaskMachine>;

/** How many late reports of one agent on one sub-task are kept: its newest. */
const LATES_OF_EACH = 16;

/**
 * The sub-tasks of a swarm: a machine for each, which says where it stands, and the assignments that are listened to.
 *
 * The record follows the machines, and a machine is made of the record when it is first needed.
 */
export class LiveSubTasks {
  readonly #deps: LiveSubTasksDeps;
  readonly #machines = new Map<string, SubTaskHost>();
  readonly #assignments: LiveAssignments;
  /** What has just happened may give others something to do; they get it when the step is done. */
  #hasMoved = false;

  constructor(deps: LiveSubTasksDeps) {
    this.#deps = deps;
    const { clock, reach, loads, events, record } = deps;
    const { onMoved, onOrphaned, onSuspended } = events;
    this.#assignments = new LiveAssignments({
      clock,
      reach,
      loads,
      record,
      events: {
        sent: ({ order }, envelopeId) => this.#sent(order.subTaskId, order, envelopeId),
        heard: ({ order }) => this.#heard(order.subTaskId, order),
        tainted: ({ order }, taint) => this.tainted(order.subTaskId, taint),
        checkpointed: ({ order }, partial) => this.#checkpointed(order.subTaskId, order, partial),
        answered: (assignment, report) => this.#answered(assignment, report),
        suspended: onSuspended,
        orphaned: onOrphaned,
        freed: onMoved,
      },
    });
  }

  get #record(): SwarmRecord {
    return this.#deps.record.current;
  }

  get #session(): SwarmSession {
    return this.#record.session;
  }

  /** The sub-tasks as actors, with the assignments that are listened to. One that is over is there while one of these is. */
  get actors(): readonly ActorRow[] {
    return this.#session.subTasks.flatMap(({ id, status }): ActorRow[] => {
      const children = this.#assignments.actorsOf(id);
      const isDone = status === 'completed' || status === 'failed';
      if (isDone && children.length === 0) return [];
      const row = this.#machines.get(id)?.row(id) ?? { id, machine: subTaskMachine.id, state: status };
      return [{ ...row, ...(children.length > 0 && { children }) }];
    });
  }

  /** How many assignments keep an agent busy, those that were taken away and not answered included. */
  get heldBy(): (agentId: string) => number {
    return this.#assignments.heldBy;
  }

  /** The agent has said that it is free. */
  putDown(agentId: string): void {
    this.#assignments.putDown(agentId);
  }

  /** Gives a sub-task to an agent. */
  assign(subTaskId: string, agentId: string): void {
    this.#send(subTaskId, { type: 'agent.assigned', agentId, atMs: this.#deps.clock.now() });
    this.#handOver(subTaskId, agentId);
  }

  /** Goes on with what a coordinator before this one has assigned; what nobody can listen to any more waits for somebody else. */
  takeOver(): void {
    for (const subTask of this.#session.subTasks) {
      const isHeard = this.#assignments.on(subTask.id, subTask.epoch) !== undefined;
      if (subTask.status === 'running' && !isHeard) this.#goOn(subTask);
    }
  }

  #goOn({ id, epoch, assignedAgent, assignments }: SwarmSubTask): void {
    const { envelopeId } = assignments.find((one) => one.epoch === epoch) ?? {};
    this.#restart(id, { isTakenOver: true });
    // It was decided and not sent: what is kept for its agent is sent together with its record.
    if (envelopeId === undefined && this.#deps.reach.isKeptFor(assignedAgent))
      return this.#handOver(id, assignedAgent);
    const assignment = this.#assignments.open(this.#record, id, this.#deps.clock.now());
    if (!assignment.goOn(envelopeId)) this.#send(id, { type: 'assignment.revoked', end: 'lost' });
  }

  #handOver(subTaskId: string, agentId: string): void {
    const { record, reach, clock } = this.#deps;
    const assignment = this.#assignments.open(this.#record, subTaskId, clock.now());
    const begin = (): void => {
      if (!assignment.isActive) return;
      this.#send(subTaskId, { type: 'assignment.handedOver', atMs: clock.now() });
      assignment.begin();
    };
    // What is kept for the agent is not on its way before the record is kept.
    if (reach.isKeptFor(agentId)) begin();
    else record.whenSaved(begin);
  }

  /** Takes back everything that the agent has. */
  takeFrom(agentId: string): void {
    for (const { id, status, assignedAgent } of this.#session.subTasks)
      if (status === 'running' && assignedAgent === agentId)
        this.#send(id, { type: 'assignment.revoked', end: 'left' });
  }

  /** Nobody is going to do it any more. */
  giveUp(subTaskId: string, error: SwarmFault): void {
    this.#send(subTaskId, { type: 'subTask.givenUp', error });
  }

  /** Fails all that is not done: the swarm is over. Returns the assignments to cancel once the record has it. */
  endAll(error: SwarmFault): readonly LiveAssignment[] {
    const cutOff: LiveAssignment[] = [];
    for (const { id, status, epoch } of this.#session.subTasks) {
      if (status === 'completed' || status === 'failed') continue;
      const assignment = status === 'running' ? this.#assignments.on(id, epoch) : undefined;
      if (assignment !== undefined) cutOff.push(assignment);
      this.#send(id, { type: 'swarm.ended', error });
    }
    return cutOff;
  }

  /** Listens no longer; the work goes on. */
  close(): void {
    this.#assignments.releaseAll();
    this.forgetSteps();
  }

  /** What the store did not take has not happened: the machines are made of the record anew. */
  forgetSteps(): void {
    for (const machine of this.#machines.values()) machine.stop();
    this.#machines.clear();
    for (const { id, status, epoch } of this.#session.subTasks)
      if (status === 'running' && this.#assignments.on(id, epoch) !== undefined) this.#restart(id);
  }

  // Reports

  /**
   * An agent reports by itself. Without an epoch it means its own latest assignment. Throws REFUSED when the sub-task
   * never was its own, TAKEN when it is not any more; the report is then kept as a late one.
   */
  report(agentId: string, subTaskId: string, report: Report, epoch?: number): void {
    const subTask = subTaskIn(this.#record, subTaskId);
    const meant = subTask && (epoch ?? latestEpochOf(subTask, agentId));
    const isOwn = subTask?.assignments.some((one) => one.agentId === agentId && one.epoch === meant) === true;
    if (subTask === undefined || meant === undefined || !isOwn)
      throw notInSwarm(this.#session, agentId, subTaskId);
    const reporter = { agentId, epoch: meant };
    const doesCount = this.#counts(subTaskId, reporter);
    this.#reported(subTaskId, reporter, report);
    if (!doesCount) throw noLongerYours(this.#session, subTaskId, meant);
  }

  /** A report in answer to the envelope that handed an assignment over; false when no such envelope is known. */
  reportIn(agentId: string, envelopeId: string, report: Report): boolean {
    for (const { id, assignments } of this.#session.subTasks) {
      const found = assignments.find((one) => one.envelopeId === envelopeId && one.agentId === agentId);
      if (found === undefined) continue;
      this.#deps.record.insist(() => this.#reported(id, found, report));
      return true;
    }
    return false;
  }

  /** What is made of a sub-task came from outside. */
  tainted(subTaskId: string, taint: Taint): void {
    const subTask = subTaskIn(this.#record, subTaskId);
    const all = mergeTaint(subTask?.taint, taint);
    if (subTask === undefined || all === subTask.taint) return;
    this.#deps.record.note(withSubTask(this.#record, subTaskId, { taint: all }));
  }

  /** Whether the assignment stands under which somebody reports. */
  #counts(subTaskId: string, { agentId, epoch }: Reporter): boolean {
    return this.#machine(subTaskId).can({ type: 'result.reported', agentId, epoch, result: undefined });
  }

  #answered({ order, wasHandedAgain }: LiveAssignment, report: Report): void {
    const { subTaskId } = order;
    try {
      this.#reported(subTaskId, order, report, wasHandedAgain);
    } catch (error) {
      // It has answered: its lease is not what ends it while that is tried again.
      this.#renew(subTaskId, order);
      // A result that no store can keep is none.
      if (!('result' in report) || !isUnkeepable(error)) throw error;
      this.#reported(subTaskId, order, { error: errorToData(error) }, wasHandedAgain);
    }
  }

  #reported(subTaskId: string, { agentId, epoch }: Reporter, report: Report, wasHandedAgain = false): void {
    const by = { agentId, epoch };
    if (!this.#counts(subTaskId, by)) this.#late(subTaskId, by, report);
    else if ('result' in report)
      this.#send(subTaskId, { type: 'result.reported', ...by, result: report.result });
    else this.#failed(subTaskId, by, report, wasHandedAgain);
  }

  #failed(subTaskId: string, by: Reporter, { error, isSaid }: FailureReport, wasHandedAgain: boolean): void {
    const partial = error.details?.['partial'];
    if (partial !== undefined) this.#deps.record.attempt(() => this.#checkpointed(subTaskId, by, partial));
    const { end, isGone } = decideEnd(error, { agentId: by.agentId, isSaid, wasHandedAgain });
    // An agent that is gone gets nothing else.
    if (isGone) this.#deps.events.onGone(by.agentId, error.code);
    this.#send(subTaskId, { type: 'failure.reported', ...by, end, error: faultOf(error) });
  }

  #late(subTaskId: string, { agentId, epoch }: Reporter, report: Report): void {
    const { record, notifier, clock } = this.#deps;
    const { lates } = subTaskOf(this.#record, subTaskId);
    const what =
      'result' in report
        ? { kind: 'result' as const, value: report.result }
        : { kind: 'error' as const, value: faultOf(report.error) };
    const late: LateReport = { agentId, epoch, atMs: clock.now(), ...what };
    record.change(withSubTask(this.#record, subTaskId, { lates: newestOfEach(lates, late, LATES_OF_EACH) }));
    notifier.heardLate(agentId, subTaskId, epoch);
  }

  /** The assignment went out in this envelope. */
  #sent(subTaskId: string, by: Reporter, envelopeId: string): void {
    const { assignments } = subTaskOf(this.#record, subTaskId);
    const named = assignments.map((one) => (one.epoch === by.epoch ? { ...one, envelopeId } : one));
    this.#renew(subTaskId, by);
    this.#deps.record.change(this.#recorded(subTaskId, { assignments: named }));
  }

  #heard(subTaskId: string, by: Reporter): void {
    if (!this.#counts(subTaskId, by)) return;
    this.#renew(subTaskId, by);
    const { limits, heardAtMs } = this.#record;
    // A lease that another coordinator takes over is at most so much shorter.
    const sinceMs = this.#deps.clock.now() - (heardAtMs[subTaskId] ?? 0);
    if (sinceMs >= limits.leaseMs * MAX_LATENESS) this.#deps.record.note(this.#recorded(subTaskId));
  }

  #checkpointed(subTaskId: string, { agentId, epoch }: Reporter, value: unknown): void {
    if (!this.#counts(subTaskId, { agentId, epoch })) return;
    this.#renew(subTaskId, { agentId, epoch });
    const atMs = this.#deps.clock.now();
    this.#deps.record.change(this.#recorded(subTaskId, { partial: { agentId, epoch, value, atMs } }));
  }

  #renew(subTaskId: string, { agentId, epoch }: Reporter): void {
    this.#send(subTaskId, { type: 'agent.heard', agentId, epoch, atMs: this.#deps.clock.now() });
  }

  // The machines

  #machine(subTaskId: string): SubTaskHost {
    return this.#machines.get(subTaskId) ?? this.#restart(subTaskId);
  }

  #send(subTaskId: string, event: SubTaskEvent): void {
    const machine = this.#machine(subTaskId);
    this.#step(() => machine.send(event));
  }

  /** Makes a step, and then what follows from it for others. */
  #step(step: () => void): void {
    try {
      step();
    } catch (error) {
      this.forgetSteps();
      throw error;
    }
    if (!this.#hasMoved) return;
    this.#hasMoved = false;
    this.#deps.events.onMoved();
  }

  /** The machine of a sub-task where the record has it. */
  #restart(id: string, { isTakenOver = false } = {}): SubTaskHost {
    const { status, epoch, assignedAgent: agentId, assignments } = subTaskOf(this.#record, id);
    const { startedAtMs = 0 } = assignments.at(-1) ?? {};
    const { leaseMs } = this.#record.limits;
    const heardAtMs = this.#record.heardAtMs[id] ?? startedAtMs;
    const { lease, timers } = this.#leaseLeft(id, heardAtMs + leaseMs, isTakenOver);
    const value = status === 'running' ? { running: lease } : status;
    const context: SubTaskContext = { agentId, epoch, heardAtMs, leaseMs };
    const { clock } = this.#deps;
    const machine: SubTaskHost = new MachineHost(
      subTaskMachine,
      {
        id: `${this.#session.id} ${id}`,
        watch: this.#deps.reach.steps,
        facts: ({ agentId, epoch, heardAtMs }) => ({
          capability: subTaskOf(this.#record, id).capability,
          epoch,
          ...(agentId === undefined ? {} : { assignee: agentId, leaseUntilMs: heardAtMs + leaseMs }),
        }),
        clock: {
          now: () => clock.now(),
          setTimer: (ms, fire) =>
            clock.setTimer(ms, () => void this.#deps.record.attempt(() => this.#step(fire))),
        },
        actions: {
          begin: () => this.#begun(id),
          judgeLease: ({ event }) => this.#judge(machine, event),
          complete: ({ event }) => this.#completed(id, event),
          takeBack: ({ event }) => this.#takenBack(id, event),
          giveUp: ({ event }) => this.#givenUp(id, event),
        },
      },
      { persisted: { value, context, timers } },
    );
    this.#machines.get(id)?.stop();
    this.#machines.set(id, machine);
    machine.start();
    return machine;
  }

  /**
   * How long the lease of an assignment holds on. For a coordinator that comes after another one as long as it would have
   * held; if that is less than a quarter of it, or over, what has come meanwhile may lie unread: it holds for so long, once.
   */
  #leaseLeft(id: string, untilMs: number, isTakenOver: boolean) {
    const { status, epoch } = subTaskOf(this.#record, id);
    const isWatched = isTakenOver || this.#assignments.on(id, epoch) !== undefined;
    // Nobody who only looks at a record watches over its leases.
    if (status !== 'running' || !isWatched) return { lease: 'decided', timers: [] };
    const { leaseMs } = this.#record.limits;
    const nowMs = this.#deps.clock.now();
    const restMs = Math.min(untilMs - nowMs, leaseMs);
    const leastMs = leaseMs * MAX_LATENESS;
    const isUnheard = restMs < leastMs;
    const delayMs = isUnheard ? leastMs : restMs;
    const dueAtMs = nowMs + delayMs;
    const event = { type: 'lease.ended', dueAtMs };
    const timers: PersistedTimer[] = [{ id: 'lease', event, atMs: dueAtMs, delayMs }];
    return { lease: isUnheard ? 'unheard' : 'leased', timers };
  }

  /** The record with a sub-task where its machine stands, and what else is known of it now. */
  #recorded(subTaskId: string, facts: Partial<SwarmSubTask> = {}): SwarmRecord {
    const { value, context } = this.#machine(subTaskId);
    const { epoch, agentId: assignedAgent, heardAtMs } = context;
    const status: SubTaskStatus = typeof value === 'string' ? value : 'running';
    const record = withSubTask(this.#record, subTaskId, { ...facts, status, epoch, assignedAgent });
    if (status !== 'running') return record;
    return { ...record, heardAtMs: { ...record.heardAtMs, [subTaskId]: heardAtMs } };
  }

  // What their steps do

  #begun(id: string): void {
    const { epoch, agentId, heardAtMs: startedAtMs } = this.#machine(id).context;
    const { assignments } = subTaskOf(this.#record, id);
    this.#deps.record.change(
      this.#recorded(id, { assignments: [...assignments, { epoch, agentId, startedAtMs }] }),
    );
  }

  #completed(id: string, event: SubTaskEvent): void {
    if (event.type !== 'result.reported') return;
    const { record, notifier } = this.#deps;
    const { result, epoch } = event;
    const assignments = this.#ended(id, { end: 'completed' });
    const { sharedState, stateVersion } = this.#session;
    record.change(
      withSession(this.#recorded(id, { result, assignments }), {
        sharedState: { ...sharedState, [id]: result },
        stateVersion: stateVersion + 1,
      }),
    );
    this.#assignments.on(id, epoch)?.release();
    notifier.stateChanged(id);
    this.#hasMoved = true;
  }

  #takenBack(id: string, event: SubTaskEvent): void {
    const { epoch, assignedAgent } = subTaskOf(this.#record, id);
    const { record, notifier } = this.#deps;
    const how = this.#endOf(id, event);
    record.change(this.#recorded(id, { assignments: this.#ended(id, how) }));
    const assignment = this.#assignments.on(id, epoch);
    // Whoever has reported by itself is asked nothing more.
    if (event.type === 'failure.reported') assignment?.release();
    else assignment?.withdraw();
    notifier.withdrawn(assignedAgent, { subTaskId: id, epoch, reason: how.end });
    this.#hasMoved = event.type !== 'assignment.revoked';
  }

  #givenUp(id: string, event: SubTaskEvent): void {
    if (event.type !== 'subTask.givenUp' && event.type !== 'swarm.ended') return;
    const { error } = event;
    const { status } = subTaskOf(this.#record, id);
    const assignments = status === 'running' ? { assignments: this.#ended(id, { end: 'cancelled' }) } : {};
    this.#deps.record.change(this.#recorded(id, { error, ...assignments }));
  }

  #judge(machine: SubTaskHost, event: SubTaskEvent): void {
    if (event.type !== 'lease.ended') return;
    const lateMs = this.#deps.clock.now() - event.dueAtMs;
    const isLate = lateMs > this.#record.limits.leaseMs * MAX_LATENESS;
    machine.send({ type: isLate ? 'lease.unheard' : 'lease.over' });
  }

  #endOf(id: string, event: SubTaskEvent): { readonly end: AssignmentEnd; readonly error?: SwarmFault } {
    if (event.type === 'failure.reported') return { end: event.end, error: event.error };
    if (event.type === 'assignment.revoked') return { end: event.end };
    const { assignedAgent } = subTaskOf(this.#record, id);
    const { leaseMs } = this.#record.limits;
    const message = `${assignedAgent} gave no sign of progress on "${id}" for ${leaseMs} ms`;
    return { end: 'stalled', error: { code: 'DEADLINE_EXCEEDED', message } };
  }

  #ended(id: string, how: { readonly end: AssignmentEnd; readonly error?: SwarmFault }) {
    return endAssignment(subTaskOf(this.#record, id), how, this.#deps.clock.now());
  }
}

const subTaskOf = (record: SwarmRecord, subTaskId: string): SwarmSubTask =>
  subTaskIn(record, subTaskId) as SwarmSubTask;

const faultOf = ({ code, message }: ErrorData): SwarmFault => ({ code, message });
