const ASIDE_FOLDER =
  /(^|\/)(tests?|__tests__|__mocks__|__fixtures__|specs?|e2e|fixtures?|testdata|mocks?|examples?|docs?|bench(mark)?s?)\//i;
const ASIDE_FILE = /[.-](test|spec|stories|bench|fixture)\.[^/]+$|\.mdx?$/i;

/** Whether a file belongs to tests, fixtures, examples, benchmarks or documentation: it does not run in production. */
export const isAside = (file: string): boolean => ASIDE_FOLDER.test(file) || ASIDE_FILE.test(file);
