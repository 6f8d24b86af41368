const TEST_FOLDER =
  /(^|\/)(?:(?:__)?(?:tests?|specs?|mocks?|fixtures?|snapshots?)(?:__)?|[\w-]+[-_]tests?|e2e|cypress|cyp|test-?data|bench(?:mark)?s?|stories)\//i;
const TEST_FILE =
  /[._-](?:test|spec|e2e|cy|bench|fixture|stories|story)(?:-d)?\.[^/]+$|(^|\/)test_[^/]+\.py$/i;

/** Whether a file is a test, a fixture, a benchmark or a story, so that it does not run in production. */
export const isTest = (file: string): boolean => TEST_FOLDER.test(file) || TEST_FILE.test(file);

/** Whether a file is a demonstration that nothing depends on. */
export const isDemo = (file: string): boolean =>
  /(^|\/)(?:(?:samples?|examples?|demos?|playgrounds?|sandbox)(?:[-_][\w-]*)?)\//i.test(file);

/** Whether a file is in a folder of documentation. */
export const isOfDocs = (file: string): boolean => /(^|\/)docs?\//i.test(file);

/** Whether a file does not run in production: a test, a demonstration or documentation. */
export const isAside = (file: string): boolean =>
  isTest(file) || isDemo(file) || isOfDocs(file) || /\.mdx?$/i.test(file);

/** Whether a file is a copy of somebody else's, by its folder. */
export const isVendored = (file: string): boolean =>
  /(^|\/)(?:vendor|third[-_]party|bower_components)\//i.test(file);

/** Whether a file is a copy of somebody else's: its first comment names a version and a licence. */
export const isCopied = (text: string): boolean =>
  /^\s*(?:@charset[^;]*;\s*)?\/\*(?:(?!\*\/)[\s\S]){0,400}?\bv?\d+\.\d+\.\d+\b(?:(?!\*\/)[\s\S]){0,400}?\b(?:licen[cs]ed?|copyright)\b/i.test(
    text,
  );

const SAMPLE =
  /(^|\/)(?:(?:__)?(?:fixtures?|snapshots?|mocks?)(?:__)?|test-?data|templates?|goldens?|expected)\//i;

/** Whether the faults of a file may be intended: it is vendored, a fixture, an expected output or a template. */
export const isSample = (file: string): boolean => isVendored(file) || SAMPLE.test(file);
