import { OwnedSwarms } from '../../../../actors/swarm/owned-swarms.ts';
import type {
  HandedAssignment,
  ProposalAnswer,
  SwarmProposal,
  SwarmReach,
  AssignmentOrder,
  AssignmentReports,
} from '../../../../actors/swarm/swarm-reach.ts';
import { SwarmRecord } from '../../../../actors/swarm/swarm-record.ts';
import type { SwarmSession } from '../../../../actors/swarm/swarm-session.ts';
import type { SwarmStore } from '../../../../actors/swarm/swarm-store.ts';
import type { ErrorData } from '../../../../runtime/protocol/errors.ts';
import type { FakeClock } from '../../../fixtures/fake-clock.ts';

/** What an agent does with an assignment; times in milliseconds from when it begins. */
export type LastingDeed =
  | { readonly does: 'answers' | 'fails'; readonly afterMs: number }
  | { readonly does: 'plods'; readonly everyMs: number; readonly times: number }
  | { readonly does: 'sleeps' };

/**
 * An agent that may outlive coordinators.
 *
 * - `isKept`  what it is sent outlives the process; without that it is gone with what it was at.
 * - `isRetry` it begins again on what the end of a process has cut off; else it answers ACTOR_DIED.
 */
export interface LastingAgent {
  readonly id: string;
  readonly isKept: boolean;
  readonly isRetry: boolean;
  readonly deeds: readonly LastingDeed[];
}

/** An assignment that has come to an agent. */
interface Doing {
  readonly order: AssignmentOrder;
  readonly agent: LastingAgent;
  reports: AssignmentReports | undefined;
  answer: { readonly result: unknown } | { readonly error: ErrorData } | undefined;
  /** Timers of an attempt that was cut off do nothing. */
  attempt: number;
  isCancelled: boolean;
}

/** The end of a coordinator: with its process, or with its thread alone. */
export type Death = 'process' | 'thread';

export const keyOf = ({ subTaskId, epoch }: Pick<AssignmentOrder, 'subTaskId' | 'epoch'>): string =>
  `${subTaskId} ${epoch}`;

/**
 * One owner after the other, in virtual time, with a journal: what was written in one step of it is kept together or not at
 * all, and what is sent to agents that outlive the process is a part of that.
 */
export class LastingWorld {
  readonly #clock: FakeClock;
  readonly #agents: ReadonlyMap<string, LastingAgent>;
  readonly #commitMs: number;
  readonly #doings = new Map<string, Doing>();
  readonly #turns = new Map<string, number>();
  #records = new Map<string, string>();
  /** What is written and not kept. */
  #unit: (() => void)[] = [];
  #kept = Promise.withResolvers<void>();
  #cancelCommit: (() => void) | undefined;
  /** Counts the coordinators: what is done for one that is gone has no effect. */
  #life = 0;
  #ids = 0;
  owned: OwnedSwarms | undefined;
  /** Every state that was kept, in order. */
  readonly seen: SwarmSession[] = [];
  /** Whom each assignment was handed to, as often as it was begun. */
  readonly begun: { readonly key: string; readonly agentId: string; readonly isRetry: boolean }[] = [];

  constructor(clock: FakeClock, agents: readonly LastingAgent[], commitMs: number) {
    this.#clock = clock;
    this.#agents = new Map(agents.map((agent) => [agent.id, agent]));
    this.#commitMs = commitMs;
  }

  /** A coordinator comes up, and goes on with what there is. */
  start(): { owned: OwnedSwarms; reach: SwarmReach } {
    this.#life += 1;
    const life = this.#life;
    const reach = this.#reach(life);
    const newId = (): string => `id-${++this.#ids}`;
    const clock = {
      now: () => this.#clock.now(),
      monotonicMs: () => this.#clock.monotonicMs(),
      setTimer: (ms: number, run: () => void) =>
        this.#clock.setTimer(ms, () => {
          if (life === this.#life) run();
        }),
    };
    const owned = new OwnedSwarms({ ownerId: 'owner', seams: { clock, newId }, store: this.#store(life) });
    this.owned = owned;
    void owned.resume(reach);
    return { owned, reach };
  }

  /** The coordinator is gone. `isLastKept`: what it wrote last was kept, though nobody was told. */
  die(death: Death, isLastKept: boolean): void {
    if (isLastKept) this.#commit();
    this.#unit = [];
    this.#cancelCommit?.();
    this.#cancelCommit = undefined;
    this.#kept = Promise.withResolvers();
    this.#life += 1;
    this.owned = undefined;
    for (const doing of this.#doings.values()) {
      doing.reports = undefined;
      if (doing.answer !== undefined) continue;
      const { isKept, isRetry } = doing.agent;
      if (!isKept) doing.isCancelled = true;
      if (!isKept || death === 'thread') continue;
      doing.attempt += 1;
      if (isRetry) this.#begin(doing);
      else doing.answer = { error: { code: 'ACTOR_DIED', message: 'its process ended' } };
    }
  }

  #store(life: number): SwarmStore {
    return {
      put: (record) => {
        const text = JSON.stringify(record);
        return this.#write(life, () => {
          this.#records.set(record.session.id, text);
          this.seen.push(SwarmRecord.parse(JSON.parse(text)).session);
        });
      },
      list: () => [...this.#records.values()].map((text) => SwarmRecord.parse(JSON.parse(text))),
    };
  }

  /** Keeps it with what is written in the same step; resolves when it is kept. */
  #write(life: number, then: () => void): Promise<void> {
    if (life !== this.#life) return new Promise(() => undefined);
    this.#unit.push(then);
    this.#cancelCommit ??= this.#clock.setTimer(this.#commitMs, () => this.#commit());
    return this.#kept.promise;
  }

  #commit(): void {
    const unit = this.#unit;
    const { resolve } = this.#kept;
    this.#unit = [];
    this.#kept = Promise.withResolvers();
    this.#cancelCommit?.();
    this.#cancelCommit = undefined;
    for (const run of unit) run();
    resolve();
  }

  #reach(life: number): SwarmReach {
    const isAlive = (): boolean => life === this.#life;
    return {
      isExplicit: false,
      isLasting: true,
      isKeptFor: (agentId) => this.#agents.get(agentId)?.isKept === true,
      whoOffers: () => [...this.#agents.keys()],
      loadOf: () => 0,
      propose: ({ timeoutMs }: SwarmProposal) =>
        new Promise<ProposalAnswer>((resolve) => {
          this.#clock.setTimer(timeoutMs / 4, () => {
            if (isAlive()) resolve({ standing: 'willing' });
          });
        }),
      dismiss: () => undefined,
      withdraw: () => undefined,
      notify: () => undefined,
      note: () => undefined,
      hand: (order, reports) => this.#hand(order, reports, { life, isNew: true }),
      handAgain: (order, _envelopeId, reports) =>
        this.#agents.get(order.agentId)?.isKept === true
          ? this.#hand(order, reports, { life, isNew: false })
          : undefined,
    };
  }

  #hand(
    order: AssignmentOrder,
    reports: AssignmentReports,
    { life, isNew }: { life: number; isNew: boolean },
  ): HandedAssignment {
    const agent = this.#agents.get(order.agentId) as LastingAgent;
    const key = keyOf(order);
    let isListening = true;
    const heard: AssignmentReports = Object.fromEntries(
      (['sent', 'progressed', 'completed', 'failed', 'orphaned', 'suspended'] as const).map((what) => [
        what,
        (value: never) => {
          if (isListening && life === this.#life) reports[what](value);
        },
      ]),
    ) as unknown as AssignmentReports;
    const arrive = (): void => {
      const known = this.#doings.get(key);
      // What is not kept is known to nobody after the process, or even to the thread that cancelled it.
      if (known === undefined || !agent.isKept) {
        const doing: Doing = {
          order,
          agent,
          reports: heard,
          answer: undefined,
          attempt: 0,
          isCancelled: false,
        };
        this.#doings.set(key, doing);
        this.#begin(doing);
      } else {
        known.reports = heard;
        if (known.answer !== undefined) this.#tell(known);
      }
    };
    queueMicrotask(() => {
      if (life !== this.#life) return;
      if (isNew) heard.sent(`envelope ${key}`);
      if (agent.isKept) void this.#write(life, arrive);
      else arrive();
    });
    const stop = (): void => {
      isListening = false;
    };
    const cancel = (): void => {
      stop();
      const doing = this.#doings.get(key);
      if (doing !== undefined) doing.isCancelled = true;
    };
    return { cancel, release: stop };
  }

  #begin(doing: Doing): void {
    const { order, agent, attempt } = doing;
    this.begun.push({ key: keyOf(order), agentId: agent.id, isRetry: attempt > 0 });
    const turn = this.#turns.get(agent.id) ?? 0;
    this.#turns.set(agent.id, turn + 1);
    this.#do(doing, agent.deeds[turn % agent.deeds.length] as LastingDeed);
  }

  #do(doing: Doing, deed: LastingDeed): void {
    const { subTaskId, epoch, agentId } = doing.order;
    switch (deed.does) {
      case 'answers':
        return this.#after(doing, deed.afterMs, { result: { subTaskId, agentId, epoch } });
      case 'fails':
        return this.#after(doing, deed.afterMs, { error: { code: 'REFUSED', message: 'it will not' } });
      case 'plods': {
        const { everyMs, times } = deed;
        const { attempt } = doing;
        this.#clock.setTimer(everyMs, () => {
          if (doing.attempt !== attempt || doing.isCancelled) return;
          doing.reports?.progressed({});
          this.#do(doing, times > 0 ? { ...deed, times: times - 1 } : { does: 'answers', afterMs: 1 });
        });
        return;
      }
      case 'sleeps':
        return;
    }
  }

  #after(doing: Doing, ms: number, answer: NonNullable<Doing['answer']>): void {
    const { attempt } = doing;
    this.#clock.setTimer(ms, () => {
      if (doing.attempt !== attempt || doing.isCancelled) return;
      doing.answer = answer;
      this.#tell(doing);
    });
  }

  /** The answer is told after the code that asks. */
  #tell(doing: Doing): void {
    const { answer, reports } = doing;
    queueMicrotask(() => {
      if (answer === undefined) return;
      if ('result' in answer) reports?.completed(answer.result);
      else reports?.failed(answer.error);
    });
  }
}
