import { PLANETS } from 'orrery/planets';
import { loopAgents, type TeamMember } from '../agents/loop-agents.ts';

/** The 21 planets, to be started in worker threads. */
export const defaultTeam = (): TeamMember[] => [
  ...loopAgents(),
  ...Object.keys(PLANETS)
    .filter((name) => name !== 'sun' && name !== 'mercury')
    .map((name) => ({
      module: new URL(`../audit/agents/${name}.agent.ts`, import.meta.url),
      isolation: 'thread' as const,
    })),
];
