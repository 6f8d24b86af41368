import { expect } from 'vitest';
import { JournalledSwarmStore } from '../../../../actors/swarm/swarm-store.ts';
import { OwnedSwarms } from '../../../../actors/swarm/owned-swarms.ts';
import type { SwarmReach, AssignmentOrder, AssignmentReports } from '../../../../actors/swarm/swarm-reach.ts';
import type { SwarmWork } from '../../../../actors/swarm/swarm-record.ts';
import type { LeftRecord } from '../../../../runtime/public.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';
import { planOf } from './swarm-records.ts';

/** The records of an agent, as a journal has them: JSON. */
export class Records {
  readonly kept = new Map<string, string>();

  takeLeft(kind: string): readonly LeftRecord[] {
    expect(kind).toBe('swarm');
    return [...this.kept].map(([key, value]) => ({ key, value: JSON.parse(value) as unknown }));
  }

  put(_kind: string, key: string, value: unknown): void {
    if (value === undefined) this.kept.delete(key);
    else this.kept.set(key, JSON.stringify(value));
  }

  whenKept(): Promise<void> {
    return Promise.resolve();
  }
}

export const journalledSwarms = (records: Records, problems: unknown[] = [], capacity = 256) =>
  new JournalledSwarmStore({ records, capacity, onProblem: (...problem) => problems.push(problem) });

/** What one coordinator after the other has handed out, and its reports. */
interface Handed {
  readonly order: AssignmentOrder;
  readonly reports: AssignmentReports;
  readonly isAgain: boolean;
  readonly inEnvelope: string | undefined;
  cancelled?: string;
}

export const LIMITS = { recruitMs: 50, leaseMs: 100, graceMs: 150 };

/** An owner whose coordinators come one after the other; all agents are durable, unless `isKept` says no. */
export class Owner {
  readonly clock = new FakeClock();
  readonly records = new Records();
  readonly handed: Handed[] = [];
  readonly withdrawn: string[] = [];
  readonly proposed: string[] = [];
  agents: readonly string[] = ['mars', 'venus'];
  isKept = true;
  answers = true;
  owned = this.#next();
  #ids = 0;

  #next(): OwnedSwarms {
    return new OwnedSwarms({
      ownerId: 'owner',
      seams: { clock: this.clock, newId: () => `id-${++this.#ids}` },
      store: journalledSwarms(this.records),
    });
  }

  get reach(): SwarmReach {
    const take = (
      order: AssignmentOrder,
      reports: AssignmentReports,
      isAgain: boolean,
      inEnvelope?: string,
    ) => {
      const one: Handed = { order, reports, isAgain, inEnvelope };
      this.handed.push(one);
      if (!isAgain) queueMicrotask(() => reports.sent(`envelope ${order.subTaskId} ${order.epoch}`));
      const cancel = (reason: string): void => {
        one.cancelled = reason;
      };
      return { cancel, release: () => undefined };
    };
    return {
      isExplicit: false,
      isLasting: true,
      isKeptFor: () => this.isKept,
      whoOffers: () => this.agents,
      loadOf: () => 0,
      propose: async ({ agentId }) => {
        this.proposed.push(agentId);
        if (!this.answers) await new Promise(() => undefined);
        return { standing: 'willing', proposalId: `proposal to ${agentId}` };
      },
      dismiss: () => undefined,
      withdraw: ({ agentId }) => void this.withdrawn.push(agentId),
      notify: () => undefined,
      note: () => undefined,
      hand: (order, reports) => take(order, reports, false),
      handAgain: (order, envelopeId, reports) =>
        this.isKept ? take(order, reports, true, envelopeId) : undefined,
    };
  }

  async create(parts: number, work?: SwarmWork) {
    const plan = planOf(...Array.from({ length: parts }, () => 'x'));
    const task = { taskDescription: 'T', requiredCapabilities: ['x'], work };
    const session = await this.owned.create(this.reach, task, { ...LIMITS, plan });
    await this.clock.advanceAsync(1);
    return session;
  }

  /** The coordinator is gone, and another one goes on. */
  async restart(downMs = 0): Promise<void> {
    this.owned.close();
    await this.clock.advanceAsync(downMs);
    this.owned = this.#next();
    await this.owned.resume(this.reach);
  }

  subTask(id: string, at = 0) {
    return this.owned.get(id)?.subTasks[at];
  }
}

export const work = (fields: Partial<SwarmWork> = {}): SwarmWork => ({
  envelopeId: 'envelope 1',
  nth: 1,
  isTriedAgain: true,
  ...fields,
});
