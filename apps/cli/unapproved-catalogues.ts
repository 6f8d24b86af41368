import type { Team } from 'orrery';

/** What an agent offers in words of somebody else that nobody has approved; `reason` has the line that approves it. */
export interface UnapprovedCatalogue {
  readonly agentId: string;
  readonly reason: string;
}

/** Of what others say of their tools, what nobody has approved. */
export async function unapprovedCatalogues({
  recentEvents,
}: Pick<Team, 'recentEvents'>): Promise<readonly UnapprovedCatalogue[]> {
  const told = (await recentEvents()).filter(({ type }) => type === 'catalogue');
  // Of one that has changed meanwhile the last counts.
  const byAgent = new Map(told.map(({ agentId = '', reason = '' }) => [agentId, reason]));
  return [...byAgent].map(([agentId, reason]) => ({ agentId, reason }));
}
