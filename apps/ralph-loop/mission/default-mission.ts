import { fileURLToPath } from 'node:url';

/** The folder that this package is a workspace of. */
const OWN_REPOSITORY = fileURLToPath(new URL('../../../', import.meta.url)).replace(/\/$/, '');

/**
 * The mission file that is run on `root` when none is named: the repository audit. Orrery's own repository
 * has one that adds its layers, which would say nothing true about another.
 */
export const defaultMission = (root: string): string =>
  fileURLToPath(
    new URL(`../missions/${root === OWN_REPOSITORY ? 'orrery' : 'repository'}-audit.json`, import.meta.url),
  );
