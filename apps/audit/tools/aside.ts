const ASIDE_FOLDER =
  /(^|\/)(tests?|__tests__|__mocks__|__fixtures__|specs?|e2e|fixtures?|test-?data|mocks?|examples?|docs?|bench(mark)?s?)\//i;
const ASIDE_FILE = /[._-](test|spec|stories|bench|fixture)\.[^/]+$|(^|\/)test_[^/]+\.py$|\.mdx?$/i;

/** Whether a file belongs to tests, fixtures, examples, benchmarks or documentation: it does not run in production. */
export const isAside = (file: string): boolean => ASIDE_FOLDER.test(file) || ASIDE_FILE.test(file);

const SAMPLE =
  /(^|\/)(?:(?:__)?(?:fixtures?|snapshots?|mocks?)(?:__)?|test-?data|testdata|vendor|third[-_]party|templates?|goldens?|expected|bower_components)\//i;

/** Whether a file is somebody else's, what a test expects or is given, or becomes another file: its faults may be meant. */
export const isSample = (file: string): boolean => SAMPLE.test(file);

/** What shows how something is used: nothing depends on them. */
export const isDemo = (file: string): boolean =>
  /(^|\/)(?:(?:samples?|examples?|demos?|playgrounds?|sandbox)(?:[-_][\w-]*)?)\//i.test(file);
