import type { Team } from 'orrery';

/** A foreign catalogue that is not approved. `reason` has the line that approves it. */
export interface UnapprovedCatalogue {
  readonly agentId: string;
  readonly reason: string;
}

/** Finds the foreign catalogues of a team that are not approved. */
export async function unapprovedCatalogues({
  recentEvents,
}: Pick<Team, 'recentEvents'>): Promise<readonly UnapprovedCatalogue[]> {
  const told = (await recentEvents()).filter(({ type }) => type === 'catalogue');
  // The last event of an agent counts.
  const byAgent = new Map(told.map(({ agentId = '', reason = '' }) => [agentId, reason]));
  return [...byAgent].map(([agentId, reason]) => ({ agentId, reason }));
}
