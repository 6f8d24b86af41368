import { lintTool } from './oxlint.ts';

const isTest = (file: string): boolean =>
  /[.-](test|spec)\.[cm]?[jt]sx?$/.test(file) || /(^|\/)(__tests__|tests?)\/.*\.[cm]?[jt]sx?$/.test(file);

/** SATURN's: tests of vitest and jest that do not run, cannot fail, or prove nothing. */
export const tests = lintTool({
  name: 'oxlint-tests',
  module: import.meta.url,
  replaces: 'the rules tests.*',
  nothing: 'no tests',
  plugins: ['vitest', 'jest'],
  takes: isTest,
  // Other runners have an it and an expect of their own, with other rules.
  isMeant: (text) =>
    !/['"](node:test|mocha|chai|ava|tap|uvu|cypress|@playwright\/test|bun:test|japa)['"/]/.test(text),
  rules: {
    'vitest/no-focused-tests': {
      severity: 'high',
      what: 'Only this test runs: all others of the file are skipped, and nobody is told',
      todo: 'Remove .only',
    },
    'jest/no-focused-tests': {
      severity: 'high',
      what: 'Only this test runs: all others of the file are skipped, and nobody is told',
      todo: 'Remove .only, or the f before it',
    },
    'vitest/no-identical-title': {
      severity: 'low',
      what: 'Another test of this block has the same title: when one fails, nobody sees which',
      todo: 'Say what differs',
    },
    'vitest/valid-expect': {
      severity: 'medium',
      what: 'This expect() asserts nothing, or nobody awaits it, so it cannot fail the test',
      todo: 'Call a matcher; await it where it is a promise',
      isQuoted: true,
      options: { maxArgs: 2 },
    },
    'vitest/valid-expect-in-promise': {
      severity: 'medium',
      what: 'The expectation runs when the test is over: the promise that it hangs on is not awaited',
      todo: 'Await or return the promise',
    },
    'vitest/valid-describe-callback': {
      severity: 'medium',
      what: 'The function of describe() must be there, and be neither async nor return a value: tests in it may be missed',
      todo: 'Make it a plain function',
    },
    'vitest/require-awaited-expect-poll': {
      severity: 'medium',
      what: 'expect.poll() gives a promise that nobody awaits, so it cannot fail the test',
      todo: 'Await it',
    },
    'vitest/hoisted-apis-on-top': {
      severity: 'low',
      what: 'vi.mock() runs before everything else in the file, not where it stands',
      todo: 'Put it at the top, or use vi.doMock()',
    },
    'vitest/no-duplicate-hooks': {
      severity: 'low',
      what: 'The block has this hook twice',
      todo: 'Make them one',
    },
    'vitest/no-interpolation-in-snapshots': {
      severity: 'medium',
      what: 'A snapshot in the code that holds a variable changes with it: updating it breaks the test',
      todo: 'Write the text out, or use property matchers',
    },
  },
});
