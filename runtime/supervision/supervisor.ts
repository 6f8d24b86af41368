import type { BackOff } from '../protocol/back-off.ts';
import type { Restart, AgentSupervision, Supervision } from './supervisor-options.ts';
import { MachineHost } from '../machine/machine-host.ts';
import type { Outsider } from '../mailbox/behalf.ts';
import type { SystemEvent } from '../protocol/system-event.ts';
import { agentNotFound, invalidOptions, type LastError } from '../protocol/errors.ts';
import type { Seams, Clock } from '../protocol/seams.ts';
import type { AgentStatus } from '../protocol/roster.ts';
import { type AgentLifeEvent, agentLifeMachine } from './agent-life.machine.ts';
import {
  type Blame,
  type Death,
  type Decision,
  decideRestart,
  type Member,
  planTrial,
  restartsOnTrial,
  describeGivingUp,
} from './decide-restart.ts';
import { type RestartGroup, RestartGroups } from './restart-groups.ts';
import { Outsiders, type Refusal } from './outsiders.ts';

/**
 * The effects of a supervisor. It calls them last, when its own state is up to date.
 *
 * - `start`    starts these agents in this order, after ends that `stop` asked for. `afterDeath`: the mail in their mailboxes or in
 *              hand is from a life that was cut off.
 * - `stop`     ends these agents in this order; these ends are not reported back. Without it, agents that a strategy restarts
 *              are started while they still live.
 * - `onGaveUp` the agent has `failed`: nobody reads its mailbox any more.
 * - `onRefuse` the agent refuses everything that this outsider has caused, for so long. Called before `start`.
 */
export interface SupervisorDeps {
  readonly seams: Pick<Seams, 'clock' | 'random'>;
  start(agentIds: readonly string[], afterDeath: boolean): void;
  stop?(agentIds: readonly string[]): void;
  onEvent(event: SystemEvent): void;
  onGaveUp(agentId: string, last: LastError): void;
  onRefuse?(agentId: string, refusal: Refusal): void;
}

/**
 * The envelope over which an agent died: the outsider who caused it, if one did, and whether an agent had died over it before.
 * Several deaths over one envelope are one charge.
 */
export interface DiedOver {
  readonly outsider: (Pick<Outsider, 'key'> & Partial<Outsider>) | undefined;
  readonly isAgain: boolean;
}

/** A death. `charged: false`: something outside the agent ended it, so it is restarted at once and not counted. */
export interface Crash extends LastError {
  readonly agentId: string;
  readonly charged: boolean;
  readonly over?: DiedOver | undefined;
}

/** How an agent declares that its ends are answered. */
export interface Supervising {
  readonly restart: Restart;
  readonly supervision?: AgentSupervision | undefined;
}

/**
 * - `restarts`  how many it has had, whatever caused them.
 * - `retryAtMs` when an agent that has failed is tried again, Unix milliseconds.
 */
export interface SupervisedStatus {
  readonly status: AgentStatus;
  readonly restarts: number;
  readonly lastError?: string;
  readonly retryAtMs?: number;
}

interface Supervised {
  life: MachineHost<typeof agentLifeMachine>;
  restarts: number;
  consecutive: number;
  runningSinceMs: number | undefined;
  lastError: LastError | undefined;
  retryAtMs: number | undefined;
}

/** The machine has no effects; the supervisor acts on its steps. */
const NO_EFFECTS = {};

/** Effects that wait until all decisions of one report are made. */
interface Outbox {
  readonly stop: string[];
  readonly start: string[];
  readonly gaveUp: { readonly agentId: string; readonly last: LastError }[];
}

/**
 * Decides which agents are restarted, when, and when a group is given up. It is OTP's supervisor, but knows no threads.
 *
 * Its owner reports what becomes of agents: `started`, `crashed`, `exited`. Reports about an agent that is gone, or about a life
 * that is over, change nothing. The supervisor itself never fails: only groups do.
 */
export class Supervisor {
  readonly #deps: SupervisorDeps;
  readonly #groups: RestartGroups;
  readonly #agents = new Map<string, Supervised>();
  readonly #schedule: RestartSchedule;
  readonly #trials: RestartSchedule;
  readonly #outsiders: Outsiders;
  readonly #refusal: BackOff;

  constructor(deps: SupervisorDeps, options: Supervision) {
    this.#deps = deps;
    this.#outsiders = new Outsiders(deps.seams);
    this.#refusal = options.refusal;
    this.#groups = new RestartGroups(options);
    this.#schedule = new RestartSchedule(deps.seams.clock, (ids, afterDeath) => this.#begin(ids, afterDeath));
    this.#trials = new RestartSchedule(deps.seams.clock, (ids) => this.#tryAgain(ids));
  }

  /** Throws INVALID_OPTIONS if the agent declares a supervision of its own and may not. */
  requireAlone(agentId: string, supervision: AgentSupervision | undefined): void {
    this.#groups.requireAlone(agentId, supervision);
  }

  /** Adds an agent, which the caller is about to start. */
  add(agentId: string, { restart, supervision }: Supervising): void {
    if (this.#agents.has(agentId)) throw invalidOptions('agentId', agentId, 'an agent not supervised yet');
    this.#groups.setOwn(agentId, supervision);
    this.#agents.set(agentId, {
      life: new MachineHost(agentLifeMachine, NO_EFFECTS, { input: { restart } }),
      restarts: 0,
      consecutive: 0,
      runningSinceMs: undefined,
      lastError: undefined,
      retryAtMs: undefined,
    });
  }

  /** Forgets an agent; it is not stopped. */
  remove(agentId: string): void {
    this.#schedule.drop(agentId);
    this.#trials.drop(agentId);
    this.#groups.remove(agentId);
    this.#outsiders.remove(agentId);
    this.#agents.delete(agentId);
  }

  /** Reports that an agent is ready for envelopes. */
  started(agentId: string): void {
    const agent = this.#agents.get(agentId);
    if (agent === undefined || !this.#step(agent, 'agent.started')) return;
    agent.runningSinceMs = this.#deps.seams.clock.monotonicMs();
    this.#emit('agent-started', agentId, agent.restarts > 0 ? { attempt: agent.restarts } : {});
  }

  /** Reports that an agent died. */
  crashed(agentId: string, crash: Omit<Crash, 'agentId'>): void {
    this.crashedTogether([{ agentId, ...crash }]);
  }

  /** Reports agents that died at once, as all agents of a thread do: each group restarts once, not once a death. */
  crashedTogether(crashes: readonly Crash[]): void {
    const returning: Death[] = [];
    for (const crash of crashes) {
      const { agentId, reason, stack, taint } = crash;
      const agent = this.#agents.get(agentId);
      if (agent === undefined || !this.#step(agent, 'agent.crashed')) continue;
      agent.lastError = { reason, stack, taint };
      this.#emit('agent-crashed', agentId, { ...factsOf(agent.lastError), errorCode: 'ACTOR_DIED' });
      const blame = this.#blame(crash);
      if (agent.life.value === 'restarting') returning.push({ agentId, blame });
      else
        this.#emit('agent-stopped', agentId, {
          reason: `a ${agent.life.context.restart} agent is not restarted`,
        });
    }
    this.#answer(returning, true);
  }

  /** Reports that an agent ended by itself, without an error. */
  exited(agentId: string, over?: DiedOver): void {
    const agent = this.#agents.get(agentId);
    if (agent === undefined || !this.#step(agent, 'agent.exited')) return;
    const blame = this.#blame({ agentId, charged: true, over });
    if (agent.life.value === 'restarting') this.#answer([{ agentId, blame }], false);
    else this.#emit('agent-stopped', agentId, { reason: 'it ended by itself' });
  }

  /** Reports that an agent was started with wrong options: it ends, and is not tried again until `restart`. */
  misconfigured(agentId: string, last: LastError): void {
    const agent = this.#agents.get(agentId);
    if (agent === undefined || !this.#step(agent, 'agent.stop')) return;
    agent.lastError = last;
    this.#emit('agent-crashed', agentId, { ...factsOf(last), errorCode: 'INVALID_OPTIONS' });
    this.#emit('agent-stopped', agentId, { reason: 'its options are wrong' });
  }

  /** Stops an agent until `restart`. Fails with AGENT_NOT_FOUND. */
  stop(agentId: string): void {
    const agent = this.#find(agentId);
    const { value: status } = agent.life;
    if (!this.#step(agent, 'agent.stop')) return;
    this.#schedule.drop(agentId);
    this.#trials.drop(agentId);
    this.#emit('agent-stopped', agentId, { reason: 'it was stopped' });
    if (status === 'starting' || status === 'running') this.#deps.stop?.([agentId]);
  }

  /** Starts an agent that stopped, failed, or waits for its back-off, with all counts cleared. Fails with AGENT_NOT_FOUND. */
  restart(agentId: string): void {
    const agent = this.#find(agentId);
    if (!this.#step(agent, 'agent.restart')) return;
    this.#schedule.drop(agentId);
    this.#trials.drop(agentId);
    agent.consecutive = 0;
    agent.runningSinceMs = undefined;
    agent.restarts += 1;
    this.#groups.pardon(agentId);
    this.#emit('agent-restarting', agentId, { attempt: agent.restarts, reason: 'by hand' });
    this.#deps.start([agentId], false);
  }

  /** Sets how an agent is restarted from now on, when its code has changed. Fails with AGENT_NOT_FOUND. */
  change(agentId: string, { restart, supervision }: Supervising): void {
    const agent = this.#find(agentId);
    this.#groups.setOwn(agentId, supervision);
    const persisted = { ...agent.life.persist(), context: { restart } };
    agent.life = new MachineHost(agentLifeMachine, NO_EFFECTS, { persisted });
  }

  /** Reports that an agent has a state that its code cannot go on with. It waits for `resume`. */
  parked(agentId: string, reason: string): void {
    const agent = this.#agents.get(agentId);
    if (agent === undefined || !this.#step(agent, 'agent.parked')) return;
    this.#schedule.drop(agentId);
    agent.runningSinceMs = undefined;
    agent.lastError = { reason };
    this.#emit('agent-parked', agentId, { reason, errorCode: 'SNAPSHOT_UNKNOWN' });
  }

  /** Reports that a parked agent is about to be started by somebody else; false when it is not parked. */
  resume(agentId: string): boolean {
    return this.#step(this.#find(agentId), 'agent.resume');
  }

  /** The status of an agent. Fails with AGENT_NOT_FOUND. */
  status(agentId: string): SupervisedStatus {
    const { life, restarts, lastError, retryAtMs } = this.#find(agentId);
    const isOpen = life.value === 'failed' && retryAtMs !== undefined;
    return {
      status: life.value,
      restarts,
      ...(lastError === undefined ? {} : { lastError: lastError.reason }),
      ...(isOpen ? { retryAtMs } : {}),
    };
  }

  /** How many restarts the agent's group may need now before it is given up. */
  restartsLeft(agentId: string): number {
    return this.#groups.restartsLeft(agentId, this.#deps.seams.clock.monotonicMs());
  }

  /** The outsiders whom an agent refuses now. */
  refusals(agentId: string): readonly Refusal[] {
    return this.#outsiders.refusals(agentId);
  }

  /** Says who is to blame for a death. An outsider is charged with it, and refused after too many. */
  #blame({ agentId, charged, over }: Pick<Crash, 'agentId' | 'charged' | 'over'>): Blame {
    if (!charged) return 'nobody';
    if (over?.isAgain === true) return 'other';
    if (over?.outsider === undefined) return 'agent';
    const { key, name = 'somebody outside' } = over.outsider;
    const { intensity } = this.#groups.of(agentId);
    const forMs = this.#outsiders.charge(agentId, { key }, { intensity, refusal: this.#refusal });
    if (forMs === undefined) return 'other';
    const reason = `${name}: more than ${intensity.maxRestarts} deaths within ${intensity.withinMs / 1_000} s over what it asked for; refused for ${Math.round(forMs)} ms`;
    this.#emit('outsider-refused', agentId, { reason, errorCode: 'RATE_LIMITED', security: true });
    this.#deps.onRefuse?.(agentId, { key, forMs });
    return 'other';
  }

  /** Drops every restart that still waits. */
  close(): void {
    this.#schedule.close();
    this.#trials.close();
  }

  #answer(deaths: readonly Death[], afterDeath: boolean): void {
    const outbox: Outbox = { stop: [], start: [], gaveUp: [] };
    for (const [group, inGroup] of this.#byGroup(deaths)) {
      // Deaths of a one-for-one group are unrelated: each has a back-off of its own.
      const together = group.strategy === 'one-for-one' ? inGroup.map((death) => [death]) : [inGroup];
      for (const some of together) this.#decide(group, some, afterDeath, outbox);
    }
    if (outbox.stop.length > 0) this.#deps.stop?.(outbox.stop);
    for (const { agentId, last } of outbox.gaveUp) this.#deps.onGaveUp(agentId, last);
    if (outbox.start.length > 0) this.#begin(outbox.start, afterDeath);
  }

  #decide(group: RestartGroup, all: readonly Death[], afterDeath: boolean, outbox: Outbox): void {
    // A death before this one may have made the group fail.
    const deaths = all.filter(({ agentId }) => this.#agents.get(agentId)?.life.value === 'restarting');
    const [first] = deaths;
    if (first === undefined) return;
    const { clock, random } = this.#deps.seams;
    const nowMs = clock.monotonicMs();
    const members = group.agents.flatMap((agentId) => this.#member(agentId, nowMs));
    const decision = decideRestart({ ...group, members }, deaths, nowMs, random);
    group.restarts = decision.restarts;
    outbox.stop.push(...decision.stop);
    if (decision.kind === 'restart') {
      this.#restartMembers(decision, afterDeath, outbox);
    } else {
      const culprit = deaths.find(({ blame }) => blame === 'agent')?.agentId ?? first.agentId;
      this.#giveUp(group, decision.giveUp, culprit, outbox);
    }
  }

  #restartMembers(decision: Decision & { kind: 'restart' }, afterDeath: boolean, outbox: Outbox): void {
    const { stop, restart, consecutive, afterMs } = decision;
    for (const agentId of stop) {
      this.#step(this.#find(agentId), 'group.restarting');
      const isLeft = !restart.includes(agentId);
      if (isLeft) this.#emit('agent-stopped', agentId, { reason: 'its group is restarted without it' });
    }
    const reason = `in ${Math.round(afterMs)} ms`;
    for (const agentId of restart) {
      const agent = this.#find(agentId);
      agent.consecutive = consecutive.get(agentId) ?? 0;
      agent.runningSinceMs = undefined;
      this.#emit('agent-restarting', agentId, { attempt: agent.restarts + 1, reason });
    }
    if (afterMs > 0) this.#schedule.plan(restart, afterMs, afterDeath);
    else outbox.start.push(...restart);
  }

  #giveUp(group: RestartGroup, agentIds: readonly string[], culprit: string, outbox: Outbox): void {
    const lastError = this.#agents.get(culprit)?.lastError;
    for (const agentId of agentIds) {
      this.#schedule.drop(agentId);
      const agent = this.#find(agentId);
      this.#step(agent, 'intensity.exceeded');
      const reason = describeGivingUp(group, agentId, { culprit, lastError: lastError?.reason });
      const last = { ...lastError, reason };
      agent.lastError ??= last;
      this.#emit('agent-failed', agentId, { ...factsOf(last), errorCode: 'SUPERVISOR_GAVE_UP' });
      outbox.gaveUp.push({ agentId, last });
    }
    this.#planTrial(group, agentIds);
  }

  /** Half-open: plans when a group that was given up is tried again, later each time. */
  #planTrial(group: RestartGroup, agentIds: readonly string[]): void {
    const { halfOpen, intensity } = group;
    if (halfOpen === false) return;
    const { clock, random } = this.#deps.seams;
    const { givenUp, afterMs } = planTrial(group, clock.monotonicMs(), { intensity, halfOpen }, random);
    group.givenUp = givenUp;
    group.triedAtMs = undefined;
    for (const agentId of agentIds) {
      this.#find(agentId).retryAtMs = clock.now() + afterMs;
    }
    this.#trials.plan(agentIds, afterMs, true);
  }

  #tryAgain(agentIds: readonly string[]): void {
    const nowMs = this.#deps.seams.clock.monotonicMs();
    const due = agentIds.filter((agentId) => {
      const agent = this.#agents.get(agentId);
      if (agent === undefined || !this.#step(agent, 'trial.due')) return false;
      agent.restarts += 1;
      agent.runningSinceMs = undefined;
      const group = this.#groups.of(agentId);
      group.restarts = restartsOnTrial(nowMs, group.intensity);
      group.triedAtMs = nowMs;
      this.#emit('agent-restarting', agentId, {
        attempt: agent.restarts,
        reason: 'half-open: one more death gives it up again',
      });
      return true;
    });
    if (due.length > 0) this.#deps.start(due, true);
  }

  #begin(agentIds: readonly string[], afterDeath: boolean): void {
    const due: string[] = [];
    for (const agentId of agentIds) {
      this.#schedule.drop(agentId);
      const agent = this.#agents.get(agentId);
      // It may have failed since: another death of the same report exceeded the intensity of their group.
      if (agent === undefined || !this.#step(agent, 'backOff.elapsed')) continue;
      agent.restarts += 1;
      due.push(agentId);
    }
    if (due.length > 0) this.#deps.start(due, afterDeath);
  }

  #byGroup(deaths: readonly Death[]): Map<RestartGroup, Death[]> {
    const groups = new Map<RestartGroup, Death[]>();
    for (const death of deaths) {
      const group = this.#groups.of(death.agentId);
      const known = groups.get(group);
      if (known === undefined) groups.set(group, [death]);
      else known.push(death);
    }
    return groups;
  }

  #member(agentId: string, nowMs: number): Member[] {
    const agent = this.#agents.get(agentId);
    if (agent === undefined) return [];
    const { life, consecutive, runningSinceMs } = agent;
    const ranMs = runningSinceMs === undefined ? 0 : nowMs - runningSinceMs;
    return [{ agentId, restart: life.context.restart, status: life.value, consecutive, ranMs }];
  }

  #find(agentId: string): Supervised {
    const agent = this.#agents.get(agentId);
    if (agent === undefined) throw agentNotFound(agentId);
    return agent;
  }

  /** Moves the life on; false if the event changes nothing. */
  #step(agent: Supervised, type: AgentLifeEvent['type']): boolean {
    if (!agent.life.can({ type })) return false;
    agent.life.send({ type });
    return true;
  }

  #emit(type: SystemEvent['type'], agentId: string, facts: Partial<SystemEvent>): void {
    this.#deps.onEvent({ type, timestamp: this.#deps.seams.clock.now(), agentId, ...facts });
  }
}

/** The fields of an event, without those that are undefined. */
const factsOf = ({ reason, stack, taint }: LastError): Partial<SystemEvent> => ({
  reason,
  ...(stack === undefined ? {} : { stack }),
  ...(taint === undefined ? {} : { taint }),
});

interface Planned {
  agentIds: string[];
  cancel: () => void;
}

/** The restarts that wait for their back-off. An agent waits for one at most: a newer plan replaces the older. */
class RestartSchedule {
  readonly #clock: Clock;
  readonly #due: (agentIds: readonly string[], afterDeath: boolean) => void;
  readonly #planned = new Map<string, Planned>();

  constructor(clock: Clock, due: (agentIds: readonly string[], afterDeath: boolean) => void) {
    this.#clock = clock;
    this.#due = due;
  }

  /** Calls `due` with these agents, in this order, after `afterMs`. */
  plan(agentIds: readonly string[], afterMs: number, afterDeath: boolean): void {
    for (const agentId of agentIds) this.drop(agentId);
    const planned: Planned = { agentIds: [...agentIds], cancel: () => undefined };
    planned.cancel = this.#clock.setTimer(afterMs, () => {
      for (const agentId of planned.agentIds) this.#planned.delete(agentId);
      this.#due(planned.agentIds, afterDeath);
    });
    for (const agentId of agentIds) this.#planned.set(agentId, planned);
  }

  /** Takes one agent out of what is planned. */
  drop(agentId: string): void {
    const planned = this.#planned.get(agentId);
    if (planned === undefined) return;
    this.#planned.delete(agentId);
    planned.agentIds = planned.agentIds.filter((id) => id !== agentId);
    if (planned.agentIds.length === 0) planned.cancel();
  }

  close(): void {
    for (const { cancel } of this.#planned.values()) cancel();
    this.#planned.clear();
  }
}
