import type { AgentRow } from './routing-table.ts';

/** Where what goes to this agent goes: on another node it has a standing here, however it came in. */
export const routingPathTo = ({
  profile: { card, standing },
}: Pick<AgentRow, 'profile'>): 'local' | 'remote' => (standing === undefined ? card.origin : 'remote');
