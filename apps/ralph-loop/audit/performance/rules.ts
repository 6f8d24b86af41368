import { type Rules, rulesOf } from '../rule.ts';

/** What IO finds in scripts. */
export const SCRIPT_RULES = rulesOf('io', {
  'performance.sync-in-handler': ['medium', 'A request handler blocks its thread for every other request'],
  'performance.sync-in-async': ['low', 'An async function blocks its thread'],
  'performance.slow-regex': [
    'medium',
    'A regular expression can take time that doubles with each character of a text that does not match',
  ],
  'performance.search-in-loop': ['info', 'A list is searched once for each of its own items'],
  'performance.spread-accumulator': ['info', 'Each round of reduce copies everything gathered so far'],
  'performance.await-in-loop': ['info', 'Requests that do not depend on each other wait for each other'],
  'performance.json-copy': [
    'info',
    'A value is copied by writing it as JSON and reading that; structuredClone copies it',
  ],
});

export const LARGE_FILE = 'performance.large-file';
export const LARGE_FILE_BYTES = 5 * 1024 * 1024;

/** What IO finds by looking at sizes. */
export const SIZE_RULES: Rules = {
  [LARGE_FILE]: {
    agent: 'io',
    severity: 'low',
    what: 'A file of more than 5 MiB is part of the repository',
    aboveBytes: LARGE_FILE_BYTES,
  },
};

export const PERFORMANCE_RULES: Rules = { ...SCRIPT_RULES, ...SIZE_RULES };
