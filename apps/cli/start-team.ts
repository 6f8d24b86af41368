import { defaultTeam, hasMoreFilesThan } from '@orrery/ralph-loop';
import { type AgentSpec, startSystem, type Team } from 'orrery';

/**
 * Heavy work is done in a pool of one thread for each worker: with one worker the analysers take turns, and a repository
 * of 50,000 files is audited in less than 512 MB. With two it is done sooner and takes 600 MB.
 */
const DEFAULT_WORKERS = 1;

/** The type check of a repository that leans on large packages needs it. */
const HEAP = { maxOldGenerationSizeMb: 1_280 };
/** Where there are more files than this, types are checked in parts, and a smaller heap keeps the whole small. */
const MANY_FILES = 10_000;
const SMALL_HEAP = { maxOldGenerationSizeMb: 208, maxYoungGenerationSizeMb: 8 };

/** Starts the agents, @default the planets; for an audit of the repository at `root` if one is to be audited. */
export const startTeam = ({
  workers = DEFAULT_WORKERS,
  root,
  journal,
  agents = defaultTeam(),
}: {
  workers?: number;
  root?: string;
  journal?: string;
  agents?: readonly AgentSpec[];
}): Promise<Team> => {
  const isLarge = root !== undefined && hasMoreFilesThan(root, MANY_FILES);
  return startSystem({
    agents,
    cpu: isLarge ? SMALL_HEAP : HEAP,
    spareThread: false,
    ...(journal === undefined ? {} : { journal: { path: journal } }),
    workers,
  });
};
