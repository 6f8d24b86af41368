import { type MachineBeginning, MachineHost } from '../../runtime/machine/machine-host.ts';
import type { Clock } from '../../runtime/protocol/seams.ts';
import { aggregate, aggregateFaults, decideEnding } from './decide/aggregate.ts';
import { decideAssignments } from './decide/assign.ts';
import { hasFailed, isCapable, isReady, type SwarmCard } from './decide/capable.ts';
import { decideHopeless, nobodyLeft } from './decide/fail.ts';
import { decideInvitations, decideSubstitutes, type Invitation, uncovered } from './decide/recruit.ts';
import { KeptRecord, type KeptRecordDeps } from './kept-record.ts';
import type { LoadBook } from './load-book.ts';
import { givenUp } from './record-changes.ts';
import { type SwarmLifeEvent, swarmMachine } from './swarm.machine.ts';
import { SwarmAssignments } from './swarm-assignments.ts';
import { notInSwarm, nothingToDo, swarmOver } from './swarm-errors.ts';
import type { ProposalAnswer, SwarmReach } from './swarm-reach.ts';
import { memberIn, type SwarmRecord, withMember, withSession } from './swarm-record.ts';
import { isAtWork, isOver, type SwarmFault, type SwarmSession, type SwarmStatus } from './swarm-session.ts';
import { SwarmVoice } from './swarm-voice.ts';

/** `loads` is what the coordinator knows of its agents, over all its swarms. */
export interface SwarmRunDeps extends KeptRecordDeps {
  readonly clock: Pick<Clock, 'now' | 'setTimer'>;
  readonly reach: SwarmReach;
  readonly loads: LoadBook;
  /** The system stops. */
  readonly onSuspended?: () => void;
}

/**
 * One swarm at work: what happens to it, what is decided, and what is done about it.
 *
 * The machine says where it stands, the record what is known; decisions are functions of the record. Work that is handed
 * out, and timers, follow from it.
 */
export class SwarmRun {
  readonly #deps: SwarmRunDeps;
  readonly #kept: KeptRecord;
  readonly #voice: SwarmVoice;
  #life: MachineHost<typeof swarmMachine>;
  /** What is assigned to whom, and what is heard of it. */
  readonly assignments: SwarmAssignments;
  #recruitTimer: () => void = () => undefined;
  #deadlineTimer: () => void = () => undefined;
  /** It waits to be gone on with; nothing new is done before. */
  #isAtRest = true;
  #isClosed = false;

  constructor(deps: SwarmRunDeps, record: SwarmRecord) {
    this.#deps = deps;
    this.#kept = new KeptRecord(deps, record);
    this.#voice = new SwarmVoice(this.#kept, deps.reach);
    this.#life = this.#lifeFrom(record.session.status);
    const { clock, reach, loads } = deps;
    this.assignments = new SwarmAssignments({
      clock,
      reach,
      loads,
      kept: this.#kept,
      voice: this.#voice,
      onMoved: () => this.#goOn(),
      onGone: (agentId, reason) => this.#leaves(agentId, reason),
      onOrphaned: () => this.cancel('the work that it was made in is over'),
      onSuspended: () => deps.onSuspended?.(),
    });
  }

  get record(): SwarmRecord {
    return this.#kept.current;
  }

  get session(): SwarmSession {
    return this.record.session;
  }

  /** Begins a new swarm. */
  begin(): void {
    this.#isAtRest = false;
    this.#change(this.record);
    this.#watchDeadline();
    this.#life = this.#lifeFrom();
    this.#life.start();
  }

  /** Goes on with a swarm that another coordinator began. What it handed out and nobody can listen to is handed out again. */
  resume(): void {
    const { status } = this.session;
    if (isOver(status)) return;
    this.#isAtRest = false;
    this.#watchDeadline();
    this.#takeOver();
    if (status === 'recruiting') this.#invite(decideInvitations(this.record, this.#cards()), true);
    else if (status === 'completing') {
      this.#aggregate();
      this.#step('outcome.reported');
    } else this.#dispatch();
  }

  /** Ends a swarm that another coordinator began. */
  abandon(reason: string): void {
    this.#takeOver();
    this.cancel(reason);
  }

  /** What a coordinator before this one has proposed and handed out. */
  #takeOver(): void {
    const { subTasks, correlationId, taskDescription } = this.session;
    for (const { agentId, standing, invitations } of this.record.team) {
      if (standing !== 'invited') continue;
      this.#deps.reach.withdraw({ agentId, correlationId, taskDescription });
      // Nobody waited for its answer to the end: it may be asked once more.
      this.#change(withMember(this.record, agentId, { standing: 'silent', invitations: invitations - 1 }));
    }
    for (const subTask of subTasks) if (subTask.status === 'running') this.assignments.assignAgain(subTask);
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
    this.assignments.putDown(agentId);
    this.#goOn();
    if (isAtWork(this.session.status) && status === 'active' && !this.session.participants.includes(agentId))
      throw nothingToDo(this.session, agentId, 'is kept in mind: all that it could do is assigned');
  }

  /** An agent does not take part any more: what it has is given to others. */
  leave(agentId: string, reason: string): void {
    const member = memberIn(this.record, agentId);
    if (member === undefined || member.standing === 'left') throw notInSwarm(this.session, agentId);
    this.#leaves(agentId, reason);
    this.assignments.takeFrom(agentId);
    this.#goOn();
  }

  /** Ends the swarm before its work is done. */
  cancel(reason: string): void {
    this.#fail('swarm.cancelled', { code: 'CANCELLED', message: `The swarm was cancelled: ${reason}` });
  }

  /** Lets go of everything; the record stays as it is, for whoever resumes it. */
  close(): void {
    this.#isClosed = true;
    this.#release();
    this.assignments.releaseAll();
  }

  // Recruiting

  #invite(invitations: readonly Invitation[], isFirst = false): void {
    const { session, limits, complexity, justification } = this.record;
    const { reach, clock } = this.#deps;
    for (const { agentId } of invitations) {
      const invitations = (memberIn(this.record, agentId)?.invitations ?? 0) + 1;
      this.#change(withMember(this.record, agentId, { standing: 'invited', invitations }));
    }
    if (isFirst)
      this.#recruitTimer = clock.setTimer(limits.recruitMs, () => this.#formTeam({ isTimeOver: true }));
    const { id: swarmId, correlationId, taskDescription } = session;
    const about = { swarmId, correlationId, taskDescription, complexity, justification };
    this.#kept.whenSaved(() => {
      for (const { agentId, requiredCapabilities } of invitations) {
        const proposal = { ...about, agentId, requiredCapabilities, timeoutMs: limits.recruitMs };
        void reach.propose(proposal).then((answer) => this.#answered(agentId, answer));
      }
    });
    if (isFirst && invitations.length === 0) this.#formTeam({ isTimeOver: false });
  }

  #answered(agentId: string, answer: ProposalAnswer): void {
    if (this.#isClosed) return;
    if (answer.standing === 'unasked') return this.#deps.onSuspended?.();
    const member = memberIn(this.record, agentId);
    // It joined by itself meanwhile, or left.
    if (member?.standing !== 'invited') return;
    if (!isAtWork(this.session.status)) {
      if (answer.standing === 'willing') this.#deps.reach.dismiss({ ...answer, agentId });
      return;
    }
    const listens = answer.standing === 'willing' && this.#deps.reach.isExplicit;
    this.#change(withMember(this.record, agentId, { ...answer, listens }));
    this.#goOn();
  }

  /** The team stands when everybody has answered, or the time for answers is over. */
  #formTeam({ isTimeOver }: { readonly isTimeOver: boolean }): void {
    if (this.session.status !== 'recruiting') return;
    const isWaiting = this.record.team.some(({ standing }) => standing === 'invited');
    if (isWaiting && !isTimeOver) return;
    this.#recruitTimer();
    const cards = this.#cards();
    const missing = uncovered(this.record, cards);
    if (missing.length === 0) return this.#step('team.formed');
    for (const subTask of missing) {
      const error = nobodyLeft(this.record, cards, subTask, 'Nobody was found');
      this.#change(givenUp(this.record, subTask.id, error));
    }
    this.#fail('team.missing', aggregateFaults(this.session.subTasks));
  }

  // Work

  /** Something has changed: decides what is next. */
  #goOn(): void {
    if (this.#isAtRest) return;
    if (this.session.status === 'recruiting') this.#formTeam({ isTimeOver: false });
    else this.#dispatch();
  }

  #dispatch(): void {
    if (this.session.status !== 'active') return;
    const cards = this.#cards();
    const { loads, reach } = this.#deps;
    const loadOf = (agentId: string): number => loads.of(agentId, reach.loadOf(agentId));
    const view = { cards, loadOf, heldBy: this.assignments.heldBy };
    for (const { subTaskId, agentId } of decideAssignments(this.record, view))
      this.assignments.assign(subTaskId, agentId);
    const { subTasks } = this.session;
    const ready = subTasks.filter((one) => isReady(one, subTasks));
    this.#invite(decideSubstitutes(this.record, cards, ready));
    this.#giveUpHopeless(cards);
    const ending = decideEnding(this.session.subTasks, this.record.limits.onFailure);
    if (ending === 'completed') this.#step('subTasks.completed');
    else if (ending === 'failed') this.#fail('subTasks.failed', aggregateFaults(this.session.subTasks));
  }

  /** What one sub-task leaves hopeless may leave others so, that depend on it. */
  #giveUpHopeless(cards: readonly SwarmCard[]): void {
    for (let hopeless = decideHopeless(this.record, cards); hopeless.length > 0; ) {
      for (const { subTaskId, error } of hopeless) {
        this.#change(givenUp(this.record, subTaskId, error));
        this.#voice.escalated(subTaskId, error);
      }
      hopeless = decideHopeless(this.record, cards);
    }
  }

  #leaves(agentId: string, reason: string): void {
    this.#change(withMember(this.record, agentId, { standing: 'left', listens: false, reason }));
  }

  // The end

  #fail(type: SwarmLifeEvent['type'], error: SwarmFault | undefined): void {
    if (!this.#life.can({ type })) return;
    if (error !== undefined) this.#change(withSession(this.record, { error }));
    this.#step(type);
  }

  #step(type: SwarmLifeEvent['type']): void {
    try {
      this.#life.send({ type });
    } catch (error) {
      // What the store did not take has not happened.
      const { status } = this.session;
      if (this.#life.value !== status) this.#life = this.#lifeFrom(status);
      throw error;
    }
  }

  /** @default one that begins */
  #lifeFrom(status?: SwarmStatus): MachineHost<typeof swarmMachine> {
    const beginning: MachineBeginning<typeof swarmMachine> =
      status === undefined ? {} : { persisted: { value: status, context: {}, timers: [] } };
    const actions = {
      keepStatus: () => this.#keepStatus(),
      invite: () => this.#invite(decideInvitations(this.record, this.#cards()), true),
      dispatch: () => this.#dispatch(),
      aggregate: () => this.#aggregate(),
      report: () => this.#step('outcome.reported'),
      tellOutcome: () => this.#voice.ended(),
      escalate: () => this.#voice.ended(),
      release: () => this.#release(),
    };
    return new MachineHost(swarmMachine, { id: this.session.id, actions }, beginning);
  }

  #keepStatus(): void {
    const status = this.#life.value;
    const end = isOver(status) ? { endedAt: this.#deps.clock.now() } : {};
    // The sub-tasks of a swarm that failed are settled together with it: nobody sees one without the other.
    const settled = status === 'failed' ? this.#stopAll() : this.record;
    this.#change(withSession(settled, { status, ...end }));
    this.#voice.moved();
  }

  #aggregate(): void {
    this.#change(withSession(this.record, { result: aggregate(this.session.subTasks) }));
  }

  #stopAll(): SwarmRecord {
    return this.assignments.stopAll(
      this.session.error ?? { code: 'CANCELLED', message: 'The swarm is over' },
    );
  }

  #release(): void {
    this.#recruitTimer();
    this.#deadlineTimer();
  }

  #watchDeadline(): void {
    const { timeoutMs } = this.record.limits;
    if (timeoutMs === undefined) return;
    const { clock } = this.#deps;
    const message = `The swarm was not done within ${timeoutMs} ms`;
    this.#deadlineTimer = clock.setTimer(this.session.createdAt + timeoutMs - clock.now(), () =>
      this.#fail('deadline.passed', { code: 'DEADLINE_EXCEEDED', message }),
    );
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
    this.#kept.change(record);
  }
}
