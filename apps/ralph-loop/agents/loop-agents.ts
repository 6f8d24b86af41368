import type { RosterRow } from 'orrery';
import { findingsVerify, missionAssign } from './capabilities.ts';

/** An agent for `startSystem`. */
export interface TeamMember {
  readonly module: URL;
  readonly isolation: 'thread';
}

const [SUN, MERCURY] = [
  new URL('./sun.agent.ts', import.meta.url),
  new URL('./mercury.agent.ts', import.meta.url),
].map((module): TeamMember => ({ module, isolation: 'thread' })) as [TeamMember, TeamMember];

/** The agents that the loop itself asks: SUN assigns tasks, MERCURY judges findings. */
export const loopAgents = (): TeamMember[] => [SUN, MERCURY];

/** The agents of the loop whose capabilities nobody in the team offers. */
export function missingLoopAgents(roster: readonly Pick<RosterRow, 'capabilities'>[]): TeamMember[] {
  const isOffered = (id: string): boolean => roster.some(({ capabilities }) => capabilities.includes(id));
  return [...(isOffered(missionAssign.id) ? [] : [SUN]), ...(isOffered(findingsVerify.id) ? [] : [MERCURY])];
}
