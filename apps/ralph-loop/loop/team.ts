import type { RosterRow, Sender, System, TaskNegotiator } from 'orrery';
import type { Swarms } from 'orrery/swarm';

/** The part of a running system that the loop needs. `loop` sends as `system/loop`: it asks, proposes and forms swarms. */
export interface Team extends Pick<System, 'roster'> {
  readonly loop: Pick<Sender, 'ask'> & {
    readonly negotiator: Pick<TaskNegotiator, 'propose' | 'release' | 'getRecord'>;
    readonly swarms: Pick<
      Swarms,
      'createSwarm' | 'cancelSwarm' | 'getSwarm' | 'listActiveSwarms' | 'listSwarms' | 'onChange'
    >;
  };
}

/** Whether an agent offers a capability. */
export const offers = (row: RosterRow, capability: string): boolean => row.capabilities.includes(capability);

/** Whether an agent may still answer: one that is failed, stopped or parked does not come back by itself. */
export const isAlive = ({ status }: RosterRow): boolean =>
  status !== 'failed' && status !== 'stopped' && status !== 'parked';

/** All capabilities that the team offers. */
export const offeredBy = (roster: readonly RosterRow[]): Set<string> =>
  new Set(roster.flatMap((row) => row.capabilities));
