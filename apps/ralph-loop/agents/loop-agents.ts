import type { RosterRow } from 'orrery';
import { findingsVerify, missionAssign } from './capabilities.ts';

/** An agent as `startSystem` takes it. */
export interface TeamMember {
  readonly module: URL;
  readonly isolation: 'thread';
}

const [SUN, MERCURY] = [
  new URL('./sun.agent.ts', import.meta.url),
  new URL('./mercury.agent.ts', import.meta.url),
].map((module): TeamMember => ({ module, isolation: 'thread' })) as [TeamMember, TeamMember];

/** SUN, who gives tasks out, and MERCURY, who judges findings: the agents that the loop itself asks. */
export const loopAgents = (): TeamMember[] => [SUN, MERCURY];

/** Those of them for whom nobody in the team stands in. */
export function missingLoopAgents(roster: readonly Pick<RosterRow, 'capabilities'>[]): TeamMember[] {
  const isOffered = (id: string): boolean => roster.some(({ capabilities }) => capabilities.includes(id));
  return [...(isOffered(missionAssign.id) ? [] : [SUN]), ...(isOffered(findingsVerify.id) ? [] : [MERCURY])];
}
