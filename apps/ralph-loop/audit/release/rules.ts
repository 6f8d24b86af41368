import { rulesOf } from '../rule.ts';

/** What TRITON looks for. */
export const RELEASE_RULES = rulesOf('triton', {
  'release.script-injection': [
    'high',
    'Text that anybody can write, such as the title of a pull request, becomes part of a script',
  ],
  'release.untrusted-checkout': [
    'high',
    'A workflow with access to secrets checks out the code of a pull request',
  ],
  'release.moving-action': ['medium', 'An action is used from a branch, which may change at any time'],
  'release.no-timeout': ['info', 'A job has no timeout-minutes: when it hangs it runs for six hours'],
  'release.moving-image': ['low', 'An image is built on whatever is the latest version of another'],
  'release.runs-as-root': ['low', 'What runs in the image runs as root: no USER is set'],
  'release.add-from-url': ['low', 'ADD fetches a file that nobody checks: it has no --checksum'],
  'release.kept-package-lists': ['info', 'The lists of packages stay in the image after apt-get install'],
  'release.publishes-everything': [
    'low',
    'A published package says neither by files nor by .npmignore what belongs into it',
  ],
  'release.no-engines': ['info', 'A published package does not say which versions of Node it needs'],
});
