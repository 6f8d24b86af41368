import { rulesOf } from '../rule.ts';

/** What URANUS looks for. */
export const DEPENDENCY_RULES = rulesOf('uranus', {
  'dependencies.undeclared': ['medium', 'A package is imported that no package.json declares'],
  'dependencies.unused': ['low', 'A dependency is declared that nothing mentions'],
  'dependencies.any-version': ['low', 'A dependency may be any version'],
  'dependencies.git-version': ['low', 'A dependency follows a branch: it may be something else tomorrow'],
  'dependencies.twice': ['low', 'A dependency is declared twice'],
  'dependencies.different-ranges': ['low', 'Workspaces ask for different versions of a dependency'],
  'dependencies.lock-drift': ['medium', 'package.json and the lock file disagree'],
  'dependencies.copyleft': ['medium', 'A dependency has a licence that binds whatever is published with it'],
});
