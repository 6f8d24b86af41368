import { OwnedSwarms } from '../../../../actors/swarm/owned-swarms.ts';
import type { SwarmOutcome } from '../../../../actors/swarm/swarm-outcome.ts';
import type { SwarmSession } from '../../../../actors/swarm/swarm-session.ts';
import { InMemorySwarmStore, type SwarmStore } from '../../../../actors/swarm/swarm-store.ts';
import type { CreateSwarmOptions } from '../../../../actors/swarm/swarms.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';
import { type ScriptedAgent, ScriptedReach } from './scripted-reach.ts';

/** One owner, its swarms, and a world of scripted agents in virtual time. */
export class SwarmWorld {
  readonly clock: FakeClock;
  readonly reach: ScriptedReach;
  readonly owned: OwnedSwarms;
  readonly store: SwarmStore;
  /** Every state of every swarm, in order. */
  readonly seen: SwarmSession[] = [];

  constructor(
    agents: readonly ScriptedAgent[],
    {
      store = new InMemorySwarmStore(),
      clock = new FakeClock(),
    }: { store?: SwarmStore; clock?: FakeClock } = {},
  ) {
    this.clock = clock;
    this.store = store;
    this.reach = new ScriptedReach(clock, agents);
    let ids = 0;
    this.owned = new OwnedSwarms({ ownerId: 'owner', seams: { clock, newId: () => `id-${++ids}` }, store });
    this.owned.onChange((session) => this.seen.push(session));
  }

  create(requiredCapabilities: readonly string[], options: CreateSwarmOptions = {}): Promise<SwarmSession> {
    return this.owned.create(this.reach, { taskDescription: 'T', requiredCapabilities }, options);
  }

  /** How the swarm ended, within `ms` of virtual time. */
  async outcome(swarmId: string, ms = 600_000): Promise<SwarmOutcome> {
    let ended: SwarmOutcome | undefined;
    void this.owned.outcome(swarmId).then((outcome) => {
      ended = outcome;
    });
    for (const endMs = this.clock.now() + ms; ended === undefined && this.clock.now() < endMs; ) {
      await this.clock.advanceAsync(this.clock.nextInMs ?? endMs - this.clock.now());
    }
    if (ended === undefined) throw new Error(`The swarm ${swarmId} did not end within ${ms} ms`);
    return ended;
  }

  session(swarmId: string): SwarmSession {
    return this.owned.get(swarmId) as SwarmSession;
  }
}

/** A willing agent that answers everything after a moment. */
export const able = (
  id: string,
  capabilities: readonly string[],
  fields: Partial<ScriptedAgent> = {},
): ScriptedAgent => ({
  id,
  capabilities,
  answers: 'willing',
  answersAfterMs: 1,
  deeds: [{ does: 'answers', afterMs: 10 }],
  ...fields,
});
