import { distance } from '../mailbox/flow-marks.ts';
import { isRetry, MAIL_DATA, type MailData } from '../mailbox/mail.ts';
import { NO_CHANGE } from '../routing/routing-table.ts';
import type { DiedOver } from '../supervision/supervisor.ts';
import type { AgentTable, AgentEntry } from './agent-table.ts';
import type { JournalThread } from '../journal/journal-thread.ts';
import type { AgentLives } from './agent-lives.ts';
import { PEERS } from './enrolment.ts';
import type { Hosting } from './hosting.ts';
import type { Charge, ThreadDeath, NodeReport } from '../thread/control-protocol.ts';
import type { Ending, ThreadHandle, Threads } from './threads.ts';
import { overSeveral, type ThreadIncarnation } from './thread-incarnation.ts';
import type { LostMail, ReplayContext, IncarnationRegistry } from './incarnation-registry.ts';

/** Deaths of its thread that are charged to one agent before it gets a thread of its own. */
const OFFENCES = 2;
/** Such threads at most: each costs as much memory as thousands of agents. */
const MAX_SOLO = 8;
const SOLO = 'solo-';

type ReceivedAll = NodeReport & { readonly t: 'received-all' };

export interface ThreadFailoverDeps {
  readonly agents: AgentTable;
  readonly threads: Threads;
  readonly incarnations: IncarnationRegistry;
  readonly hosting: Hosting;
  readonly lives: AgentLives;
  readonly journal: Pick<JournalThread, 'mailsAt'> | undefined;
}

/** What becomes of a place whose thread died: a new thread, its agents in it, and everything that was under way. */
export class ThreadFailover {
  readonly #deps: ThreadFailoverDeps;
  /** Numbers of what the journal was asked for and does not have. */
  readonly #missing = new Set<number>();
  /** What living threads said of a dead one before its end was noticed here. */
  #early: { readonly reporter: ThreadIncarnation; readonly report: ReceivedAll }[] = [];

  constructor(deps: ThreadFailoverDeps) {
    this.#deps = deps;
  }

  /** A place's thread is gone: new ones take its agents over, and everything that was under way is accounted for. */
  begin(thread: ThreadHandle, dead: ThreadIncarnation, { isCharged, ...why }: Ending): void {
    const { agents: table, threads, hosting } = this.#deps;
    const loading = hosting.cut(thread);
    table.threadDied(thread.id);
    const agents = table.at(thread.id);
    const culprits = isCharged ? this.#culprits(loading, dead, agents) : [];
    const { over, charged } = this.#over(loading, dead, culprits);
    if (isCharged) for (const agent of loading) agent.broken = 'its thread died while it was loaded';
    for (const culprit of culprits) culprit.offences += 1;
    for (const agent of agents) {
      agent.untold = {
        ...why,
        charged: culprits.includes(agent) || agent.untold?.charged === true,
        over: culprits.includes(agent) ? over(agent.slot) : agent.untold?.over,
      };
    }
    const charge = (isCharged ? charged : undefined) ?? thread.untold?.charge;
    const death = { ...why, charge };
    const apart = agents.length > 1 ? this.#moveApart(culprits) : [];
    dead.death = death;
    thread.untold = death;
    threads.reopen(thread);
    void this.#revive(thread);
    const early = this.#early;
    this.#early = [];
    for (const { reporter, report } of early) this.receivedAll(reporter, report);
    for (const agent of apart) {
      const own = threads.open(agent.place);
      own.untold = death;
      void this.#revive(own);
    }
  }

  /**
   * A living thread has taken in all that a dead one had posted to it. What the dead one had sent to its agents before,
   * over a former thread of theirs, and did not come to send again, is replayed.
   */
  receivedAll(reporter: ThreadIncarnation, report: ReceivedAll): void {
    const { agents: table, threads, incarnations } = this.#deps;
    if (incarnations.isLiving(report.incarnation)) {
      this.#early.push({ reporter, report });
      return;
    }
    const dead = incarnations.dead(report.incarnation);
    const thread = [...threads].find(({ incarnation }) => incarnation === reporter);
    // A place that is not up yet is given everything when it is.
    if (dead?.death === undefined || thread?.isUp !== true) return;
    const slots = new Set(table.at(thread.id).map(({ slot }) => slot));
    const { death } = dead;
    const give = (): void => {
      // Whoever has died meanwhile is given everything in its next thread.
      if (thread.incarnation !== reporter || !thread.isUp) return;
      incarnations.markSettled((slot) => slots.has(slot));
      const replays = incarnations.leftovers(dead, received, this.#context(slots, death));
      if (replays.length > 0) threads.tell(thread, { t: 'replay', replays });
    };
    const received = new Map(report.flows);
    const isLeftOver = ({ incarnation, flow, sequence }: LostMail): boolean =>
      incarnation === dead.number && distance(sequence, received.get(flow) ?? (sequence - 1) | 0) > 0;
    const search = this.#search((slot) => slots.has(slot), isLeftOver);
    if (search === undefined) give();
    else void search.then(give);
  }

  /**
   * Has the journal give back what only threads held that have died; undefined when there is nothing of that. Never rejects:
   * what it does not give back is told dead under its name, and settled there.
   */
  #search(
    isThere: (slot: number) => boolean,
    isMeant: (lost: LostMail) => boolean = () => true,
  ): Promise<void> | undefined {
    const { incarnations, journal } = this.#deps;
    if (journal === undefined) return undefined;
    const lost = incarnations.lost(isThere).filter((one) => !this.#missing.has(one.kept) && isMeant(one));
    if (lost.length === 0) return undefined;
    const numbers = lost.map(({ kept }) => kept);
    const take = (mails: readonly MailData[]): void => {
      incarnations.found(lost, mails);
      const found = new Set(mails.map((mail) => mail[MAIL_DATA.kept]));
      for (const number of numbers) if (!found.has(number)) this.#missing.add(number);
    };
    return journal.mailsAt(numbers).then(take, () => take([]));
  }

  #context(slots: ReadonlySet<number>, death: ThreadDeath): ReplayContext {
    const { agents: table } = this.#deps;
    return {
      death,
      isThere: (slot) => slots.has(slot),
      idOf: (slot) => table.inSlot(slot)?.id,
      isRetry: (slot, mail) =>
        isRetry(mail[MAIL_DATA.extras], table.inSlot(slot)?.profile.delivery ?? 'once'),
    };
  }

  /**
   * Whom a death is charged to: the agents that were being loaded; the one whose code ran; or else all that had something
   * in hand, that were starting, or, when the thread died of nothing that can be seen, that lived in it.
   */
  #culprits(
    loading: readonly AgentEntry[],
    { inHand }: ThreadIncarnation,
    agents: readonly AgentEntry[],
  ): readonly AgentEntry[] {
    const { agents: table, incarnations, lives } = this.#deps;
    if (loading.length > 0) return loading;
    const current = inHand === undefined ? undefined : table.inSlot(inHand.slot);
    if (current !== undefined) return [current];
    const slots = incarnations.inHand();
    const suspects = agents.filter(({ slot }) => slots.has(slot));
    if (suspects.length > 0) return suspects;
    const starting = agents.filter(({ id, profile }) => !profile.lazy && lives.statusOf(id) === 'starting');
    return starting.length > 0 ? starting : agents;
  }

  /**
   * What the agent in a slot died over with its thread: what its code ran for, or else what it had in hand. `charged` is the
   * envelope, where it is known: that is not tried again for ever.
   */
  #over(
    loading: readonly AgentEntry[],
    { inHand }: ThreadIncarnation,
    culprits: readonly AgentEntry[],
  ): { readonly over: (slot: number) => DiedOver | undefined; readonly charged: Charge | undefined } {
    const { incarnations } = this.#deps;
    if (inHand !== undefined) {
      const running = inHand.charge && incarnations.begunOn(inHand.charge);
      return { over: () => (loading.length > 0 ? undefined : running), charged: inHand.charge };
    }
    if (loading.length > 0) return { over: () => undefined, charged: undefined };
    const begun = incarnations.inHand();
    const [culprit] = culprits;
    const one = culprits.length === 1 && culprit !== undefined ? begun.get(culprit.slot) : undefined;
    if (one?.charge !== undefined) return { over: () => one, charged: one.charge };
    const over = (slot: number): DiedOver | undefined => {
      const some = begun.get(slot);
      return some && overSeveral(some);
    };
    return { over, charged: undefined };
  }

  /**
   * Gives repeat offenders places of their own: whoever shares a thread with them is rid of them. Other nodes are reached from one
   * place alone.
   */
  #moveApart(culprits: readonly AgentEntry[]): readonly AgentEntry[] {
    const { agents: table, threads } = this.#deps;
    const taken = [...threads].filter(({ id }) => id.startsWith(SOLO)).length;
    const movable = culprits.filter(({ offences, place }) => offences >= OFFENCES && place !== PEERS);
    const apart = movable.slice(0, MAX_SOLO - taken);
    if (apart.length > 0)
      threads.tellAll({ t: 'table', delta: table.move(apart, ({ id }) => `${SOLO}${id}`) });
    return apart;
  }

  /** Hosts a place's agents in its new thread, hands over the mail of the old one, and has them restarted. */
  async #revive(thread: ThreadHandle): Promise<void> {
    const { agents: table, threads, incarnations, lives } = this.#deps;
    const { spawned } = thread;
    try {
      await this.#hostAgain(thread);
    } catch {
      // That thread died too; its own failover goes on from there.
      return;
    }
    const isHere = (slot: number): boolean => table.inSlot(slot)?.place === thread.id;
    // Others may die while the journal looks for it.
    for (let search = this.#search(isHere); search !== undefined; search = this.#search(isHere)) await search;
    if (thread.spawned !== spawned || thread.untold === undefined || threads.isClosing) return;
    const agents = table.at(thread.id);
    lives.bringUpToDate(thread, agents);
    const slots = new Set(agents.map(({ slot }) => slot));
    const kept = incarnations.checkpoints((slot) => slots.has(slot));
    if (kept.length > 0) threads.tell(thread, { t: 'checkpoints', kept });
    incarnations.markSettled((slot) => slots.has(slot));
    const replays = incarnations.replays(this.#context(slots, thread.untold));
    if (replays.length > 0) threads.tell(thread, { t: 'replay', replays });
    threads.join(thread);
    threads.prepareSpare();
    incarnations.prune();
    this.#reportDeaths(agents);
    threads.announce(thread);
  }

  async #hostAgain(thread: ThreadHandle): Promise<void> {
    const { agents: table, hosting } = this.#deps;
    const modules = Map.groupBy(table.at(thread.id), ({ module }) => module);
    // One after the other: if the thread dies over it, it is known which module it was.
    for (const alike of modules.values())
      await hosting.host(thread, alike, { change: NO_CHANGE, isAgain: true });
  }

  #reportDeaths(agents: readonly AgentEntry[]): void {
    const crashes = agents.flatMap(({ id, untold }) =>
      untold === undefined ? [] : [{ agentId: id, ...untold }],
    );
    for (const agent of agents) agent.untold = undefined;
    this.#deps.lives.diedTogether(crashes);
  }
}
