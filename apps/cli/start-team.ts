import { type AgentSpec, type Logger, type PeerOptions, startSystem, type Team } from 'orrery';

/** One worker is enough, because heavy work runs in processes of its own. */
const DEFAULT_WORKERS = 1;

/** Starts a team for a command. */
export const startTeam = ({
  agents,
  workers = DEFAULT_WORKERS,
  journal,
  peers,
  logger,
  tracing,
}: {
  agents: readonly AgentSpec[];
  workers?: number;
  journal?: string;
  peers?: PeerOptions;
  logger?: Logger;
  tracing?: URL;
}): Promise<Team> =>
  startSystem({
    agents,
    spareThread: false,
    ...(journal === undefined ? {} : { journal: { path: journal } }),
    ...(peers === undefined ? {} : { peers }),
    ...(logger === undefined ? {} : { logger }),
    ...(tracing === undefined ? {} : { tracing }),
    workers,
  });
