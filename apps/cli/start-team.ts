import { type AgentSpec, startSystem, type Team } from 'orrery';

/** The agents' heavy work is done in processes of their own: one thread is enough for all of them. */
const DEFAULT_WORKERS = 1;

/** Starts the agents. */
export const startTeam = ({
  agents,
  workers = DEFAULT_WORKERS,
  journal,
}: {
  agents: readonly AgentSpec[];
  workers?: number;
  journal?: string;
}): Promise<Team> =>
  startSystem({
    agents,
    spareThread: false,
    ...(journal === undefined ? {} : { journal: { path: journal } }),
    workers,
  });
