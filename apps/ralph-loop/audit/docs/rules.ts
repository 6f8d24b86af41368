import { rulesOf } from '../rule.ts';

/** What CALLISTO finds in one file. */
export const FILE_RULES = rulesOf('callisto', {
  'docs.broken-link': ['low', 'A link leads to a file that is not there'],
  'docs.broken-anchor': ['low', 'A link names a heading that is not there'],
  'docs.broken-json': ['low', 'A block of JSON is not JSON'],
  'docs.no-readme': ['low', 'The repository has no README'],
  'docs.no-licence': ['info', 'The package is published, and the repository has no file with its licence'],
});

export const UNKNOWN_SCRIPT = 'docs.unknown-script';

/** What CALLISTO finds by looking at a document and every package.json. */
export const REPOSITORY_DOCS_RULES = rulesOf('callisto', {
  [UNKNOWN_SCRIPT]: ['low', 'A script is to be run that no package.json has'],
});

export const DOCS_RULES = { ...FILE_RULES, ...REPOSITORY_DOCS_RULES };
