import { fileURLToPath } from 'node:url';
import { loopAgents, type TeamMember } from '@orrery/ralph-loop';
import { PLANETS } from 'orrery/planets';

/** The repository that this package is a workspace of. */
const OWN_REPOSITORY = fileURLToPath(new URL('../../', import.meta.url)).replace(/\/$/, '');

/** Planets that come with the loop. */
const OF_THE_LOOP = ['sun', 'mercury'];

/** The 21 planets for `startSystem`, each in a worker thread: those of the loop, and those of the audit. */
export const auditTeam = (): TeamMember[] => [
  ...loopAgents(),
  ...Object.keys(PLANETS)
    .filter((name) => !OF_THE_LOOP.includes(name))
    .map(
      (name): TeamMember => ({
        module: new URL(`./planets/${name}.agent.ts`, import.meta.url),
        isolation: 'thread',
      }),
    ),
];

/**
 * The path of the mission file that audits the repository at `root`. Orrery's own repository has another one, with its
 * layers.
 */
export const auditMission = (root: string): string =>
  fileURLToPath(
    new URL(`./missions/${root === OWN_REPOSITORY ? 'orrery' : 'repository'}-audit.json`, import.meta.url),
  );
