import { type AgentSpec, startSystem, type Team } from 'orrery';
import { planets } from './audit-app.ts';

/** The planets wait for their tools most of the time, which run in processes of their own: one thread is enough for all. */
const DEFAULT_WORKERS = 1;

/** Starts the agents, @default the planets. */
export const startTeam = async ({
  workers = DEFAULT_WORKERS,
  journal,
  agents,
}: {
  workers?: number;
  journal?: string;
  agents?: readonly AgentSpec[];
}): Promise<Team> =>
  startSystem({
    agents: agents ?? (await planets()),
    spareThread: false,
    ...(journal === undefined ? {} : { journal: { path: journal } }),
    workers,
  });
