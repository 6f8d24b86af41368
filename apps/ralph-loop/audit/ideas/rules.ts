import { rulesOf } from '../rule.ts';

/** What ANDROMEDA finds in one file. */
export const FILE_RULES = rulesOf('andromeda', {
  'ideas.todo': ['info', 'To be done, says a comment'],
  'ideas.fixme': ['info', 'To be mended, says a comment'],
  'ideas.hack': ['info', 'To be done better, says a comment'],
  'ideas.commented-code': ['info', 'Code that is switched off by comment marks'],
  'ideas.disabled-code': ['info', 'Code that never runs: its condition is false'],
});

export const DEPRECATED_USE = 'ideas.deprecated-use';

/** What ANDROMEDA finds by looking at several files. */
export const REPOSITORY_IDEAS_RULES = rulesOf('andromeda', {
  [DEPRECATED_USE]: ['info', 'What is marked @deprecated is imported in the same repository'],
});

export const IDEAS_RULES = { ...FILE_RULES, ...REPOSITORY_IDEAS_RULES };
