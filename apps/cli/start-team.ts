import { defaultTeam } from '@orrery/ralph-loop';
import { startSystem, type Team } from 'orrery';

/**
 * Heavy work is done in a pool of one thread for each worker: with one worker the analysers take turns, and a repository
 * of 50,000 files is audited in less than 512 MB. With two it is done sooner and takes 600 MB.
 */
const DEFAULT_WORKERS = 1;

/** The type check of a repository that leans on large packages needs it. */
const HEAP_MB = 640;

/** Starts the planets that have a job. */
export const startTeam = ({ workers = DEFAULT_WORKERS }: { workers?: number }): Promise<Team> =>
  startSystem({
    agents: defaultTeam(),
    cpu: { maxOldGenerationSizeMb: HEAP_MB },
    spareThread: false,
    workers,
  });
