import type { ErrorData } from '../../runtime/protocol/errors.ts';
import type { Clock } from '../../runtime/protocol/seams.ts';
import { mergeTaint, type Taint } from '../../runtime/protocol/taint.ts';
import { decideEnd } from './decide/fail.ts';
import { isWorthKeeping } from './decide/lease.ts';
import { counts, latestEpochOf, type Reporter } from './decide/report.ts';
import type { KeptRecord } from './kept-record.ts';
import type { LoadBook } from './load-book.ts';
import {
  assigned,
  checkpointed,
  completed,
  heard,
  reportedLate,
  sentIn,
  stopped,
  takenBack,
} from './record-changes.ts';
import { noLongerYours, notInSwarm } from './swarm-errors.ts';
import type { SwarmReach } from './swarm-reach.ts';
import { subTaskIn, type SwarmRecord, withSubTask } from './swarm-record.ts';
import type { SwarmFault, SwarmSession, SwarmSubTask } from './swarm-session.ts';
import type { SwarmVoice } from './swarm-voice.ts';
import type { Work, WorkEvents } from './work.ts';
import { WorkBook } from './work-book.ts';
import { workOrderOf } from './work-order.ts';

/** What an agent reports about a sub-task. */
export type Report = { readonly result: unknown } | { readonly error: ErrorData };

/**
 * - `loads`      what the coordinator knows of its agents, over all its swarms.
 * - `onMoved`    something has changed by which others may get something to do.
 * - `onGone`     the agent cannot be reached, for this reason.
 * - `onOrphaned` the work in which the swarm was made is over.
 * - `onSuspended` the system stops.
 */
export interface SwarmAssignmentsDeps {
  readonly kept: KeptRecord;
  readonly voice: SwarmVoice;
  readonly clock: Pick<Clock, 'now' | 'setTimer'>;
  readonly reach: SwarmReach;
  readonly loads: LoadBook;
  readonly onMoved: () => void;
  readonly onGone: (agentId: string, reason: string) => void;
  readonly onOrphaned: () => void;
  readonly onSuspended: () => void;
}

/** What a swarm has assigned to whom, and what is heard of it. */
export class SwarmAssignments {
  readonly #deps: SwarmAssignmentsDeps;
  readonly #works: WorkBook;

  constructor(deps: SwarmAssignmentsDeps) {
    this.#deps = deps;
    const { clock, reach, loads } = deps;
    this.#works = new WorkBook({ clock, reach, loads, events: this.#workEvents() });
  }

  get #record(): SwarmRecord {
    return this.#deps.kept.current;
  }

  get #session(): SwarmSession {
    return this.#record.session;
  }

  /** How many assignments keep an agent busy, those that were taken away and not answered included. */
  get heldBy(): (agentId: string) => number {
    return this.#works.heldBy;
  }

  /** The agent has said that it is free. */
  putDown(agentId: string): void {
    this.#works.putDown(agentId);
  }

  /** Gives a sub-task to an agent. */
  assign(subTaskId: string, agentId: string): void {
    const { kept, clock } = this.#deps;
    kept.change(assigned(this.#record, subTaskId, agentId, clock.now()));
    this.#handOver(subTaskId, agentId);
  }

  /** Goes on listening to whoever had it from another coordinator; where that is not possible it waits for somebody else. */
  assignAgain({ id, epoch, assignedAgent, assignments }: SwarmSubTask): void {
    const { envelopeId, startedAtMs = 0 } = assignments.find((one) => one.epoch === epoch) ?? {};
    // It was decided and not sent: what is kept for its agent is sent together with its record.
    if (envelopeId === undefined && this.#deps.reach.isKeptFor(assignedAgent))
      return this.#handOver(id, assignedAgent);
    const untilMs = (this.#record.heardAtMs[id] ?? startedAtMs) + this.#record.limits.leaseMs;
    if (!this.#workOn(id).goOn({ envelopeId, untilMs })) this.#takeBack(id, { end: 'lost' });
  }

  #handOver(subTaskId: string, agentId: string): void {
    const { kept, reach } = this.#deps;
    const work = this.#workOn(subTaskId);
    const begin = (): void => {
      if (!work.isOver) work.begin();
    };
    // What is kept for the agent is not on its way before the record is kept.
    if (reach.isKeptFor(agentId)) begin();
    else kept.whenSaved(begin);
  }

  /** Takes back everything that the agent has. */
  takeFrom(agentId: string): void {
    for (const { id, status, assignedAgent } of this.#session.subTasks)
      if (status === 'running' && assignedAgent === agentId) this.#takeBack(id, { end: 'left' });
  }

  /** The record of the swarm with nothing going on any more; all work that is not done is cancelled. */
  stopAll(error: SwarmFault): SwarmRecord {
    for (const { id, status, epoch } of this.#session.subTasks)
      if (status === 'running') this.#works.on(id, epoch)?.cancel(error.message);
    return stopped(this.#record, error, this.#deps.clock.now());
  }

  /** Listens no longer; the work goes on. */
  releaseAll(): void {
    this.#works.releaseAll();
  }

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
    const doesCount = counts(subTask, reporter);
    if (doesCount) this.#works.on(subTaskId, meant)?.release();
    this.#reported(subTaskId, reporter, report);
    if (!doesCount) throw noLongerYours(this.#session, subTaskId, meant);
  }

  /** A report in answer to the envelope that handed an assignment over; false when no such envelope is known. */
  reportIn(agentId: string, envelopeId: string, report: Report): boolean {
    for (const { id, assignments } of this.#session.subTasks) {
      const found = assignments.find((one) => one.envelopeId === envelopeId && one.agentId === agentId);
      if (found === undefined) continue;
      this.#reported(id, found, report);
      return true;
    }
    return false;
  }

  #workOn(subTaskId: string): Work {
    const order = workOrderOf(this.#record, subTaskId, this.#deps.clock.now());
    return this.#works.open(order, this.#record.limits.graceMs);
  }

  #workEvents(): WorkEvents {
    const { kept, clock, onMoved, onOrphaned, onSuspended } = this.#deps;
    return {
      sent: ({ order: { subTaskId, epoch } }, envelopeId) =>
        kept.change(sentIn(this.#record, subTaskId, epoch, envelopeId, clock.now())),
      heard: ({ order }) => this.#heard(order.subTaskId, order),
      tainted: ({ order }, taint) => this.tainted(order.subTaskId, taint),
      checkpointed: ({ order }, partial) => this.#checkpointed(order.subTaskId, order, partial),
      completed: ({ order }, result) => this.#reported(order.subTaskId, order, { result }),
      failed: (work, error) =>
        this.#reported(work.order.subTaskId, work.order, { error }, work.wasHandedAgain),
      stalled: ({ order }) => this.#stalled(order.subTaskId, order),
      orphaned: onOrphaned,
      suspended: onSuspended,
      freed: onMoved,
    };
  }

  /** What is made of a sub-task came from outside. */
  tainted(subTaskId: string, taint: Taint): void {
    const subTask = subTaskIn(this.#record, subTaskId);
    const all = mergeTaint(subTask?.taint, taint);
    if (subTask === undefined || all === subTask.taint) return;
    this.#deps.kept.note(withSubTask(this.#record, subTaskId, { taint: all }));
  }

  #heard(subTaskId: string, by: Reporter): void {
    const subTask = subTaskIn(this.#record, subTaskId);
    if (subTask === undefined || !counts(subTask, by)) return;
    const { kept, clock } = this.#deps;
    const nowMs = clock.now();
    const formerMs = this.#record.heardAtMs[subTaskId] ?? 0;
    if (isWorthKeeping(formerMs, nowMs, this.#record.limits.leaseMs))
      kept.note(heard(this.#record, subTaskId, nowMs));
  }

  #checkpointed(subTaskId: string, by: Reporter, partial: unknown): void {
    const subTask = subTaskIn(this.#record, subTaskId);
    if (subTask === undefined || !counts(subTask, by)) return;
    const { kept, clock } = this.#deps;
    kept.change(checkpointed(this.#record, subTaskId, by, partial, clock.now()));
  }

  #stalled(subTaskId: string, by: Reporter): void {
    const subTask = subTaskIn(this.#record, subTaskId);
    if (subTask === undefined || !counts(subTask, by)) return;
    const { leaseMs } = this.#record.limits;
    const message = `${by.agentId} gave no sign of progress on "${subTaskId}" for ${leaseMs} ms`;
    this.#takeBack(subTaskId, { end: 'stalled', error: { code: 'DEADLINE_EXCEEDED', message } });
    this.#deps.onMoved();
  }

  #reported(subTaskId: string, { agentId, epoch }: Reporter, report: Report, wasHandedAgain = false): void {
    const subTask = subTaskIn(this.#record, subTaskId);
    if (subTask === undefined) return;
    const { kept, voice, clock } = this.#deps;
    const atMs = clock.now();
    if (!counts(subTask, { agentId, epoch })) {
      const what =
        'result' in report
          ? { kind: 'result' as const, value: report.result }
          : { kind: 'error' as const, value: faultOf(report.error) };
      kept.change(reportedLate(this.#record, subTaskId, { agentId, epoch, atMs, ...what }));
      voice.heardLate(agentId, subTaskId, epoch);
    } else if ('result' in report) this.#completed(subTaskId, report.result, atMs);
    else this.#failed(subTaskId, { agentId, epoch }, report.error, wasHandedAgain);
  }

  #completed(subTaskId: string, result: unknown, atMs: number): void {
    const { kept, voice, onMoved } = this.#deps;
    kept.change(completed(this.#record, subTaskId, result, atMs));
    voice.stateChanged(subTaskId);
    onMoved();
  }

  #failed(subTaskId: string, by: Reporter, error: ErrorData, wasHandedAgain: boolean): void {
    const partial = error.details?.['partial'];
    if (partial !== undefined) this.#checkpointed(subTaskId, by, partial);
    const { end, isGone } = decideEnd(error, wasHandedAgain);
    this.#takeBack(subTaskId, { end, error: faultOf(error) });
    if (isGone) this.#deps.onGone(by.agentId, error.code);
    this.#deps.onMoved();
  }

  #takeBack(subTaskId: string, how: Parameters<typeof takenBack>[2]): void {
    const { epoch, assignedAgent } = subTaskIn(this.#record, subTaskId) as SwarmSubTask;
    const { kept, voice, clock } = this.#deps;
    this.#works.on(subTaskId, epoch)?.takeAway();
    kept.change(takenBack(this.#record, subTaskId, how, clock.now()));
    voice.withdrawn(assignedAgent, { subTaskId, epoch, reason: how.end });
  }
}

const faultOf = ({ code, message }: ErrorData): SwarmFault => ({ code, message });
