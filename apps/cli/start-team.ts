import { defaultTeam } from '@orrery/ralph-loop';
import { startSystem, type System } from 'orrery';

/** Starts the planets that have a job. */
export const startTeam = ({ workers }: { workers?: number }): Promise<System> =>
  startSystem({
    agents: defaultTeam(),
    // The type check of a repository that leans on large packages needs it.
    cpu: { maxOldGenerationSizeMb: 512 },
    ...(workers === undefined ? {} : { workers }),
  });
