import type { ErrorCode } from '../../../../runtime/protocol/errors.ts';
import type { SwarmNotice } from '../../../../actors/swarm/swarm-notifier.ts';
import type {
  HandedAssignment,
  ProposalAnswer,
  SwarmEvent,
  SwarmProposal,
  SwarmReach,
  AssignmentOrder,
  AssignmentReports,
} from '../../../../actors/swarm/swarm-reach.ts';
import type { FakeClock } from '../../../fixtures/fake-clock.ts';

/** What an agent does with an assignment; times in milliseconds from when it gets it. */
export type Deed =
  | { readonly does: 'answers'; readonly afterMs: number }
  /** Shows progress every so often, and answers in the end. */
  | { readonly does: 'plods'; readonly everyMs: number; readonly times: number }
  | { readonly does: 'checkpoints'; readonly afterMs: number; readonly next: 'answers' | 'fails' | 'sleeps' }
  | { readonly does: 'fails'; readonly afterMs: number; readonly code: ErrorCode; readonly partial?: unknown }
  /** Never answers. */
  | { readonly does: 'sleeps' };

export interface ScriptedAgent {
  readonly id: string;
  readonly capabilities: readonly string[];
  /** How it answers a proposal, and when; 'never' when it does not. */
  readonly answers: 'willing' | 'declined' | 'never';
  readonly answersAfterMs: number;
  /** What it does with the assignments it gets, in turn and over again. */
  readonly deeds: readonly Deed[];
}

/** A report that an agent has made while somebody listened. */
export interface Made {
  readonly subTaskId: string;
  readonly agentId: string;
  readonly epoch: number;
  readonly kind: 'result' | 'error';
}

/** The result that identifies the assignment it was made under. */
export const resultOf = ({ subTaskId, agentId, epoch }: AssignmentOrder) => ({ subTaskId, agentId, epoch });

/** A world of agents that do as they are told, in virtual time. */
export class ScriptedReach implements SwarmReach {
  readonly isExplicit = true;
  readonly isLasting = false;
  readonly proposals: SwarmProposal[] = [];
  readonly orders: AssignmentOrder[] = [];
  readonly notices: { readonly to: string; readonly notice: SwarmNotice }[] = [];
  readonly dismissed: string[] = [];
  readonly withdrawn: string[] = [];
  readonly events: SwarmEvent[] = [];
  readonly made: Made[] = [];
  readonly cancelled: AssignmentOrder[] = [];
  readonly loads = new Map<string, number>();
  readonly #clock: FakeClock;
  readonly #agents: Map<string, ScriptedAgent>;
  readonly #turns = new Map<string, number>();

  constructor(clock: FakeClock, agents: readonly ScriptedAgent[]) {
    this.#clock = clock;
    this.#agents = new Map(agents.map((agent) => [agent.id, agent]));
  }

  add(agent: ScriptedAgent): void {
    this.#agents.set(agent.id, agent);
  }

  whoOffers(capabilityId: string): readonly string[] {
    return [...this.#agents.values()]
      .filter(({ capabilities }) => capabilities.includes(capabilityId))
      .map(({ id }) => id);
  }

  /** What others have given an agent, and it has not done yet. */
  loadOf(agentId: string): number {
    return this.loads.get(agentId) ?? 0;
  }

  propose(proposal: SwarmProposal): Promise<ProposalAnswer> {
    this.proposals.push(proposal);
    const agent = this.#agents.get(proposal.agentId) as ScriptedAgent;
    return new Promise((resolve) => {
      const isInTime = agent.answers !== 'never' && agent.answersAfterMs < proposal.timeoutMs;
      const afterMs = isInTime ? agent.answersAfterMs : proposal.timeoutMs;
      this.#clock.setTimer(afterMs, () => {
        if (!isInTime) resolve({ standing: 'silent' });
        else if (agent.answers === 'declined') resolve({ standing: 'declined', reason: 'BUSY' });
        else resolve({ standing: 'willing' });
      });
    });
  }

  hand(order: AssignmentOrder, reports: AssignmentReports): HandedAssignment {
    this.orders.push(order);
    const { deeds } = this.#agents.get(order.agentId) as ScriptedAgent;
    const turn = this.#turns.get(order.agentId) ?? 0;
    this.#turns.set(order.agentId, turn + 1);
    const work = new Doing(this.#clock, reports, (kind) => {
      const { subTaskId, agentId, epoch } = order;
      this.made.push({ subTaskId, agentId, epoch, kind });
    });
    this.#clock.setTimer(0, () => work.sent(`envelope ${order.subTaskId} ${order.epoch}`));
    work.do(deeds[turn % deeds.length] ?? { does: 'sleeps' }, resultOf(order));
    return {
      cancel: () => {
        this.cancelled.push(order);
        work.stop();
      },
      release: () => work.stop(),
    };
  }

  handAgain(): HandedAssignment | undefined {
    return undefined;
  }

  isKeptFor(): boolean {
    return false;
  }

  dismiss({ agentId }: { readonly agentId: string }): void {
    this.dismissed.push(agentId);
  }

  withdraw({ agentId }: { readonly agentId: string }): void {
    this.withdrawn.push(agentId);
  }

  note(event: SwarmEvent): void {
    this.events.push(event);
  }

  notify(to: string, _about: unknown, notice: SwarmNotice): void {
    this.notices.push({ to, notice });
  }
}

/** One assignment being worked on. */
class Doing {
  readonly #clock: FakeClock;
  readonly #reports: AssignmentReports;
  readonly #onMade: (kind: Made['kind']) => void;
  #isStopped = false;

  constructor(clock: FakeClock, reports: AssignmentReports, onMade: (kind: Made['kind']) => void) {
    this.#clock = clock;
    this.#reports = reports;
    this.#onMade = onMade;
  }

  stop(): void {
    this.#isStopped = true;
  }

  sent(envelopeId: string): void {
    if (!this.#isStopped) this.#reports.sent(envelopeId);
  }

  do(deed: Deed, result: unknown): void {
    switch (deed.does) {
      case 'answers':
        return this.#after(deed.afterMs, () => this.#answer(result));
      case 'fails':
        return this.#after(deed.afterMs, () => this.#fail(deed.code, deed.partial));
      case 'plods':
        return this.#plod(deed, deed.times, result);
      case 'checkpoints':
        return this.#after(deed.afterMs, () => {
          this.#reports.progressed({ partial: { half: result } });
          if (deed.next === 'answers') this.do({ does: 'answers', afterMs: deed.afterMs }, result);
          if (deed.next === 'fails')
            this.do({ does: 'fails', afterMs: deed.afterMs, code: 'ACTOR_DIED' }, result);
        });
      case 'sleeps':
        return;
    }
  }

  #plod(deed: Deed & { does: 'plods' }, left: number, result: unknown): void {
    this.#after(deed.everyMs, () => {
      if (left === 0) return this.#answer(result);
      this.#reports.progressed({});
      this.#plod(deed, left - 1, result);
    });
  }

  #answer(result: unknown): void {
    this.#onMade('result');
    this.#reports.completed(result);
  }

  #fail(code: ErrorCode, partial: unknown): void {
    this.#onMade('error');
    const details = partial === undefined ? {} : { partial };
    this.#reports.failed({ code, message: `it said ${code}`, details });
  }

  #after(ms: number, then: () => void): void {
    this.#clock.setTimer(ms, () => {
      if (!this.#isStopped) then();
    });
  }
}
