import {
  MachineHost,
  type MachineBeginning,
  type PersistedTimer,
} from '../../runtime/machine/machine-host.ts';
import type { ActorRow } from '../../runtime/protocol/roster.ts';
import type { MachineFacts } from '../../runtime/protocol/system-event.ts';
import type { Clock } from '../../runtime/protocol/seams.ts';
import type { AgentLoads, LiveAssignment } from './live-assignments.ts';
import { LiveSubTasks } from './live-sub-tasks.ts';
import { type SwarmLifeEvent, swarmMachine } from './swarm.machine.ts';
import {
  decideAssignments,
  decideHopeless,
  decideInvitations,
  decideSubstitutes,
  hasFailed,
  type Invitation,
  isCapable,
  isReady,
  nobodyLeft,
  type SwarmCard,
  uncovered,
} from './swarm-decisions.ts';
import { SwarmNotifier } from './swarm-notifier.ts';
import { aggregate, aggregateFaults, decideEnding } from './swarm-outcome.ts';
import type { ProposalAnswer, SwarmReach } from './swarm-reach.ts';
import { memberIn, type SwarmRecord, withMember, withSession } from './swarm-record.ts';
import { isAtWork, isOver, type SwarmFault, type SwarmSession } from './swarm-session.ts';
import { StoredRecord, type StoredRecordDeps } from './stored-record.ts';
import { notInSwarm, nothingToDo, swarmOver } from './swarms.ts';

/** `loads` is what the coordinator knows of its agents, over all its swarms. */
export interface LiveSwarmDeps extends Pick<StoredRecordDeps, 'taint' | 'save'> {
  readonly clock: Pick<Clock, 'now' | 'setTimer'>;
  readonly reach: SwarmReach;
  readonly loads: AgentLoads;
  readonly owner: SwarmOwner;
}

/** Hears of a swarm. */
export interface SwarmOwner {
  changed(session: SwarmSession): void;
  /** The system stops. */
  suspended(): void;
}

/** So much later comes what had become due and the store did not take. */
const TRY_AGAIN_MS = 1_000;

/**
 * One swarm at work: what happens to it, what is decided, and what is done about it.
 *
 * Its machine, and those of its sub-tasks, say where it stands, the record what is known; decisions are functions of the
 * record. A swarm that waits to be gone on with is a record without machines.
 */
export class LiveSwarm {
  readonly #deps: LiveSwarmDeps;
  readonly #record: StoredRecord;
  readonly #notifier: SwarmNotifier;
  readonly subTasks: LiveSubTasks;
  #machine: MachineHost<typeof swarmMachine> | undefined;
  #isClosed = false;

  constructor(deps: LiveSwarmDeps, record: SwarmRecord) {
    this.#deps = deps;
    this.#record = new StoredRecord(
      {
        ...deps,
        onChange: (session) => deps.owner.changed(session),
        onFailed: (error) => this.#notifier.notKept(error),
      },
      record,
    );
    this.#notifier = new SwarmNotifier(this.#record, deps.reach);
    const { clock, reach, loads } = deps;
    this.subTasks = new LiveSubTasks({
      clock,
      reach,
      loads,
      record: this.#record,
      notifier: this.#notifier,
      events: {
        onMoved: () => this.#moved(),
        onGone: (agentId, reason) => this.#leaves(agentId, reason),
        onOrphaned: () => this.cancel('the work that it was made in is over'),
        onSuspended: () => deps.owner.suspended(),
      },
    });
  }

  get record(): SwarmRecord {
    return this.#record.current;
  }

  get session(): SwarmSession {
    return this.record.session;
  }

  /** The swarm as an actor; one that waits to be gone on with stands where the record has it. */
  get actor(): ActorRow {
    const { id, status } = this.session;
    const row = this.#machine?.row() ?? { id, machine: swarmMachine.id, state: status, facts: this.#facts };
    return { ...row, children: this.subTasks.actors };
  }

  get #facts(): MachineFacts {
    const { ownerId, subTasks } = this.session;
    const done = subTasks.filter(({ status }) => status === 'completed').length;
    return { owner: ownerId, subTasks: subTasks.length, done };
  }

  /** Begins a new swarm. */
  begin(): void {
    this.#change(this.record);
    const { recruitMs, timeoutMs } = this.record.limits;
    const machine = this.#machineFrom({ input: { recruitMs, timeoutMs } });
    this.#step(() => machine.start());
  }

  /** Goes on with a swarm that another coordinator began. What it handed out and nobody can listen to is handed out again. */
  resume(): void {
    this.#record.insist(() => {
      if (isOver(this.session.status)) return;
      this.#revive();
      this.#send({ type: 'swarm.resumed' });
    });
  }

  /** Takes over what a coordinator before this one has proposed and handed out. */
  #revive(): void {
    const machine = this.#machineFrom(this.#persisted());
    if (!this.#isClosed) this.#takeOver();
    this.#step(() => machine.start());
  }

  #takeOver(): void {
    const { correlationId, taskDescription } = this.session;
    for (const { agentId, standing, invitations } of this.record.team) {
      if (standing !== 'invited') continue;
      this.#deps.reach.withdraw({ agentId, correlationId, taskDescription });
      // Nobody waited for its answer to the end: it may be asked once more.
      this.#change(withMember(this.record, agentId, { standing: 'silent', invitations: invitations - 1 }));
    }
    this.subTasks.takeOver();
  }

  /**
   * An agent wants to take part, or its owner wants it to; `listens`: it is told of changes. Throws REFUSED when there is
   * nothing for it to do now; it may be needed later.
   */
  join(agentId: string, { listens }: { readonly listens: boolean }): void {
    const { status, subTasks } = this.session;
    if (!isAtWork(status)) throw swarmOver(this.session);
    const card = this.#cards().find(({ id }) => id === agentId);
    const open = subTasks.filter((one) => one.status === 'pending' || one.status === 'running');
    const suited = open.filter(
      (one) => card !== undefined && isCapable(card, one) && !hasFailed(one, agentId),
    );
    if (suited.length === 0)
      throw nothingToDo(this.session, agentId, 'has the capabilities of none that is open');
    this.#change(withMember(this.record, agentId, { standing: 'willing', listens }));
    this.subTasks.putDown(agentId);
    this.#moved();
    if (isAtWork(this.session.status) && status === 'active' && !this.session.participants.includes(agentId))
      throw nothingToDo(this.session, agentId, 'is kept in mind: all that it could do is assigned');
  }

  /** An agent does not take part any more: what it has is given to others. */
  leave(agentId: string, reason: string): void {
    const member = memberIn(this.record, agentId);
    if (member === undefined || member.standing === 'left') throw notInSwarm(this.session, agentId);
    this.#leaves(agentId, reason);
    this.subTasks.takeFrom(agentId);
    this.#moved();
  }

  /** Ends the swarm before its work is done, also one that waits to be gone on with. */
  cancel(reason: string): void {
    if (isOver(this.session.status)) return;
    if (this.#machine === undefined) this.#revive();
    const error = { code: 'CANCELLED' as const, message: `The swarm was cancelled: ${reason}` };
    this.#send({ type: 'swarm.cancelled', error });
  }

  /** The same for nobody who waits for it: what the store does not take is tried again. */
  end(reason: string): void {
    this.#record.insist(() => this.cancel(reason));
  }

  /** Lets go of everything; the record stays as it is, for whoever resumes it. */
  close(): void {
    this.#isClosed = true;
    this.#record.close();
    this.#machine?.stop();
    this.#machine = undefined;
    this.subTasks.close();
  }

  // Recruiting

  /** Proposes to everybody who could do a part of it; if there is nobody, that is how the team stands. */
  #recruit(): void {
    const invitations = decideInvitations(this.record, this.#cards());
    this.#invite(invitations);
    if (invitations.length === 0) this.#formTeam({ isTimeOver: false });
  }

  #invite(invitations: readonly Invitation[]): void {
    const { session, limits, complexity, justification } = this.record;
    const { reach } = this.#deps;
    for (const { agentId } of invitations) {
      const invitations = (memberIn(this.record, agentId)?.invitations ?? 0) + 1;
      this.#change(withMember(this.record, agentId, { standing: 'invited', invitations }));
    }
    const { id: swarmId, correlationId, taskDescription } = session;
    const about = { swarmId, correlationId, taskDescription, complexity, justification };
    this.#record.whenSaved(() => {
      for (const { agentId, requiredCapabilities } of invitations) {
        const proposal = { ...about, agentId, requiredCapabilities, timeoutMs: limits.recruitMs };
        void reach
          .propose(proposal)
          .then((answer) => this.#record.insist(() => this.#answered(agentId, answer)));
      }
    });
  }

  #answered(agentId: string, answer: ProposalAnswer): void {
    if (this.#isClosed) return;
    if (answer.standing === 'unasked') return this.#deps.owner.suspended();
    const member = memberIn(this.record, agentId);
    // It joined by itself meanwhile, or left.
    if (member?.standing !== 'invited') return;
    if (!isAtWork(this.session.status)) {
      if (answer.standing === 'willing') this.#deps.reach.dismiss({ ...answer, agentId });
      return;
    }
    const listens = answer.standing === 'willing' && this.#deps.reach.isExplicit;
    this.#change(withMember(this.record, agentId, { ...answer, listens }));
    this.#moved();
  }

  /** The team stands when everybody has answered, or the time for answers is over. */
  #formTeam({ isTimeOver }: { readonly isTimeOver: boolean }): void {
    const isWaiting = this.record.team.some(({ standing }) => standing === 'invited');
    if (isWaiting && !isTimeOver) return;
    const cards = this.#cards();
    const missing = uncovered(this.record, cards);
    if (missing.length === 0) return this.#send({ type: 'team.formed' });
    for (const subTask of missing)
      this.subTasks.giveUp(subTask.id, nobodyLeft(this.record, cards, subTask, 'Nobody was found'));
    this.#send({ type: 'team.missing', error: aggregateFaults(this.session.subTasks) });
  }

  // Work

  /** Something has changed: the machine says what that leads to where it stands. */
  #moved(): void {
    this.#record.insist(() => this.#send({ type: 'swarm.changed' }));
  }

  #dispatch(): void {
    const cards = this.#cards();
    const { loads, reach } = this.#deps;
    const loadOf = (agentId: string): number => loads.of(agentId, reach.loadOf(agentId));
    const view = { cards, loadOf, heldBy: this.subTasks.heldBy };
    for (const { subTaskId, agentId } of decideAssignments(this.record, view))
      this.subTasks.assign(subTaskId, agentId);
    const { subTasks } = this.session;
    const ready = subTasks.filter((one) => isReady(one, subTasks));
    this.#invite(decideSubstitutes(this.record, cards, ready));
    this.#giveUpHopeless(cards);
    const ending = decideEnding(this.session.subTasks, this.record.limits.onFailure);
    if (ending === 'completed') this.#send({ type: 'subTasks.completed' });
    else if (ending === 'failed')
      this.#send({ type: 'subTasks.failed', error: aggregateFaults(this.session.subTasks) });
  }

  /** What one sub-task leaves hopeless may leave others so, that depend on it. */
  #giveUpHopeless(cards: readonly SwarmCard[]): void {
    for (let hopeless = decideHopeless(this.record, cards); hopeless.length > 0; ) {
      for (const { subTaskId, error } of hopeless) {
        this.subTasks.giveUp(subTaskId, error);
        this.#notifier.escalated(subTaskId, error);
      }
      hopeless = decideHopeless(this.record, cards);
    }
  }

  #leaves(agentId: string, reason: string): void {
    this.#change(withMember(this.record, agentId, { standing: 'left', listens: false, reason }));
  }

  // The machine

  #send(event: SwarmLifeEvent): void {
    this.#step(() => this.#machine?.send(event));
  }

  /** What the store did not take has not happened: the machines are made of the record anew. */
  #step(step: () => void): void {
    try {
      step();
    } catch (error) {
      const { value, context, timers } = this.#persisted().persisted;
      const soonestMs = this.#deps.clock.now() + TRY_AGAIN_MS;
      const left = timers.map((due) => ({
        ...due,
        atMs: Math.max(due.atMs, soonestMs),
        delayMs: Math.max(due.delayMs, TRY_AGAIN_MS),
      }));
      this.#machineFrom({ persisted: { value, context, timers: left } }).start();
      this.subTasks.forgetSteps();
      throw error;
    }
  }

  /** The swarm as it is in the record; who is invited has the whole time for an answer. */
  #persisted() {
    const { session, limits } = this.record;
    const { recruitMs, timeoutMs } = limits;
    const timers: PersistedTimer[] = [];
    const nowMs = this.#deps.clock.now();
    const add = (id: string, type: SwarmLifeEvent['type'], atMs: number, delayMs: number): void =>
      void timers.push({ id, event: { type }, atMs, delayMs });
    if (timeoutMs !== undefined) add('deadline', 'deadline.passed', session.createdAt + timeoutMs, timeoutMs);
    if (session.status === 'recruiting') add('recruiting', 'recruiting.ended', nowMs + recruitMs, recruitMs);
    return { persisted: { value: session.status, context: { recruitMs, timeoutMs }, timers } };
  }

  #machineFrom(beginning: MachineBeginning<typeof swarmMachine>): MachineHost<typeof swarmMachine> {
    const { clock } = this.#deps;
    this.#machine?.stop();
    this.#machine = new MachineHost(
      swarmMachine,
      {
        id: this.session.id,
        watch: this.#deps.reach.steps,
        facts: () => this.#facts,
        clock: {
          now: () => clock.now(),
          setTimer: (ms, fire) => clock.setTimer(ms, () => void this.#record.attempt(() => this.#step(fire))),
        },
        actions: {
          recordStatus: ({ event }) => this.#recordStatus(event),
          invite: () => this.#recruit(),
          formTeam: ({ event }) => this.#formTeam({ isTimeOver: event.type === 'recruiting.ended' }),
          dispatch: () => this.#dispatch(),
          aggregate: () =>
            this.#change(withSession(this.record, { result: aggregate(this.session.subTasks) })),
          report: () => this.#send({ type: 'outcome.reported' }),
          tellOutcome: () => this.#notifier.ended(),
          escalate: () => this.#notifier.ended(),
        },
      },
      beginning,
    );
    return this.#machine;
  }

  /** The sub-tasks of a swarm that failed are settled together with it: nobody sees one without the other. */
  #recordStatus(event: SwarmLifeEvent): void {
    const status = (this.#machine as MachineHost<typeof swarmMachine>).value;
    const error = this.#errorOf(event);
    const fault = error ?? { code: 'CANCELLED' as const, message: 'The swarm is over' };
    let toCancel: readonly LiveAssignment[] = [];
    this.#record.together(() => {
      if (status === 'failed') toCancel = this.subTasks.endAll(fault);
      this.#change(
        withSession(this.record, {
          status,
          ...(error !== undefined && { error }),
          ...(isOver(status) && { endedAt: this.#deps.clock.now() }),
        }),
      );
    });
    for (const assignment of toCancel) assignment.cancel(fault.message);
    this.#notifier.moved();
  }

  #errorOf(event: SwarmLifeEvent): SwarmFault | undefined {
    if ('error' in event) return event.error;
    if (event.type !== 'deadline.passed') return undefined;
    const message = `The swarm was not done within ${this.record.limits.timeoutMs} ms`;
    return { code: 'DEADLINE_EXCEEDED', message };
  }

  // What is known

  /** The agents that have any of the capabilities that matter here. */
  #cards(): readonly SwarmCard[] {
    const wanted = new Set(this.session.subTasks.flatMap(({ requiredCapabilities }) => requiredCapabilities));
    const found = new Map<string, Set<string>>();
    for (const capability of wanted) {
      for (const id of this.#deps.reach.whoOffers(capability)) {
        const capabilities = found.get(id) ?? new Set();
        found.set(id, capabilities.add(capability));
      }
    }
    return [...found].map(([id, capabilities]) => ({ id, capabilities }));
  }

  #change(record: SwarmRecord): void {
    this.#record.change(record);
  }
}
