import { auditTeam } from '@orrery/audit';
import { type AgentSpec, startSystem, type Team } from 'orrery';

/** The planets wait for their tools most of the time, which run in processes of their own: one thread is enough for all. */
const DEFAULT_WORKERS = 1;

/** Starts the agents, @default the planets. */
export const startTeam = ({
  workers = DEFAULT_WORKERS,
  journal,
  agents = auditTeam(),
}: {
  workers?: number;
  journal?: string;
  agents?: readonly AgentSpec[];
}): Promise<Team> =>
  startSystem({
    agents,
    spareThread: false,
    ...(journal === undefined ? {} : { journal: { path: journal } }),
    workers,
  });
