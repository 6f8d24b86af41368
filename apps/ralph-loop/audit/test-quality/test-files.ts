const NAMED_AS_TEST = /[._-](?:test|tests|spec|specs|e2e|cy|it)\.[cm]?[jt]sx?$/i;
const IN_TEST_FOLDER = /(?:^|\/)(?:__tests__|tests?|specs?|e2e|cypress)\//i;

/** Whether a script's name or folder says that it holds tests: there `it` and `test` are the framework's globals. */
export const isTestFile = (file: string): boolean => NAMED_AS_TEST.test(file) || isInTestFolder(file);

/** Whether a file lies in a folder of tests, beside which helpers of tests lie too. */
export const isInTestFolder = (file: string): boolean => IN_TEST_FOLDER.test(file);
