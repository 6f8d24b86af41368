import { fileURLToPath } from 'node:url';
import { loopAgents, type TeamMember } from '@orrery/ralph-loop';
import { PLANETS } from 'orrery/planets';

/** The folder that this package is a workspace of. */
const OWN_REPOSITORY = fileURLToPath(new URL('../../', import.meta.url)).replace(/\/$/, '');

/** The planets that the loop brings itself. */
const OF_THE_LOOP = ['sun', 'mercury'];

/** The 21 planets, to be started in worker threads: those of the loop, and those that audit a repository. */
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
 * The mission file that audits the repository at `root`. Orrery's own repository has one that adds its layers, which would
 * say nothing true about another.
 */
export const auditMission = (root: string): string =>
  fileURLToPath(
    new URL(`./missions/${root === OWN_REPOSITORY ? 'orrery' : 'repository'}-audit.json`, import.meta.url),
  );
