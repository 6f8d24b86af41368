import { type AgentSpec, startSystem, type Team } from 'orrery';

/** One worker is enough, because heavy work runs in processes of its own. */
const DEFAULT_WORKERS = 1;

/** Starts a team for a command. */
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
