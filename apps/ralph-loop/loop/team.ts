import type { RosterRow, Sender, System, TaskNegotiator } from 'orrery';
import type { Swarms } from 'orrery/swarm';

/** What the loop needs of a running system. `loop`: by which it asks, proposes and forms swarms, as `system/loop`. */
export interface Team extends Pick<System, 'roster'> {
  readonly loop: Pick<Sender, 'ask'> & {
    readonly negotiator: Pick<TaskNegotiator, 'propose' | 'release'>;
    readonly swarms: Pick<
      Swarms,
      'createSwarm' | 'cancelSwarm' | 'getSwarm' | 'listActiveSwarms' | 'listSwarms' | 'onChange'
    >;
  };
}

/** Says whether `row` is an agent that offers `capability`. */
export const offers = (row: RosterRow, capability: string): boolean => row.capabilities.includes(capability);

/** Says whether `row` may still answer: one that failed, was stopped or is parked does not come back by itself. */
export const isAlive = ({ status }: RosterRow): boolean =>
  status !== 'failed' && status !== 'stopped' && status !== 'parked';

/** Every capability that somebody in the team offers. */
export const offeredBy = (roster: readonly RosterRow[]): Set<string> =>
  new Set(roster.flatMap((row) => row.capabilities));
