const TEST_FOLDER =
  /(^|\/)(?:(?:__)?(?:tests?|specs?|mocks?|fixtures?|snapshots?)(?:__)?|[\w-]+[-_]tests?|e2e|cypress|cyp|test-?data|bench(?:mark)?s?|stories)\//i;
const TEST_FILE =
  /[._-](?:test|spec|e2e|cy|bench|fixture|stories|story)(?:-d)?\.[^/]+$|(^|\/)test_[^/]+\.py$/i;

/** Tests, what they are given and what they expect; benchmarks; stories: nobody runs them in production. */
export const isTest = (file: string): boolean => TEST_FOLDER.test(file) || TEST_FILE.test(file);

/** What shows how something is used: nothing depends on them. */
export const isDemo = (file: string): boolean =>
  /(^|\/)(?:(?:samples?|examples?|demos?|playgrounds?|sandbox)(?:[-_][\w-]*)?)\//i.test(file);

/** Whether a file lies with the documentation. */
export const isOfDocs = (file: string): boolean => /(^|\/)docs?\//i.test(file);

/** What does not run in production: tests, demonstrations and documentation. */
export const isAside = (file: string): boolean =>
  isTest(file) || isDemo(file) || isOfDocs(file) || /\.mdx?$/i.test(file);

/** What somebody else maintains. */
export const isVendored = (file: string): boolean =>
  /(^|\/)(?:vendor|third[-_]party|bower_components)\//i.test(file);

/** The first comment names a product, its version and its licence: the file is a copy of somebody else's. */
export const isCopied = (text: string): boolean =>
  /^\s*(?:@charset[^;]*;\s*)?\/\*(?:(?!\*\/)[\s\S]){0,400}?\bv?\d+\.\d+\.\d+\b(?:(?!\*\/)[\s\S]){0,400}?\b(?:licen[cs]ed?|copyright)\b/i.test(
    text,
  );

const SAMPLE =
  /(^|\/)(?:(?:__)?(?:fixtures?|snapshots?|mocks?)(?:__)?|test-?data|templates?|goldens?|expected)\//i;

/** Whether a file is somebody else's, what a test expects or is given, or becomes another file: its faults may be meant. */
export const isSample = (file: string): boolean => isVendored(file) || SAMPLE.test(file);
