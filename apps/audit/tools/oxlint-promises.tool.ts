import { isScript, isTestOrFixture, lintTool } from './oxlint.ts';
import { isReact } from './oxlint-react.tool.ts';

/** CHARON's: promises and errors that get lost. */
export const promises = lintTool({
  name: 'oxlint-promises',
  module: import.meta.url,
  replaces: 'the rules errors.* and resilience.*',
  nothing: 'no scripts',
  plugins: ['typescript', 'unicorn', 'promise', 'oxc'],
  isTypeAware: true,
  takes: (file) => isScript(file) && !isTestOrFixture(file),
  rules: {
    'typescript/no-floating-promises': {
      isOfTypes: true,
      // A browser logs what is rejected, and handlers of components start work on purpose.
      isTold: ({ text }) => !isReact(text),
      severity: 'medium',
      what: 'Nobody waits for this promise: when it rejects, the process may end, and what follows runs before it is done',
      todo: 'Await or return it, give it a .catch(), or say with void that it is meant so',
      options: {
        ignoreIIFE: true,
        allowForKnownSafeCalls: [
          { from: 'package', name: ['test', 'it', 'describe', 'suite'], package: 'node:test' },
        ],
      },
    },
    'typescript/no-misused-promises': {
      isOfTypes: true,
      severity: 'high',
      what: 'A promise stands where a value is needed: as a condition it is always true, and spread it is empty',
      todo: 'Await it',
      options: { checksConditionals: true, checksSpreads: true, checksVoidReturn: false },
    },
    'typescript/return-await': {
      isOfTypes: true,
      severity: 'low',
      what: 'The promise is returned out of a try: its rejection is not caught here, and finally runs before it is done',
      todo: 'Write return await',
      options: 'error-handling-correctness-only',
    },
    'typescript/no-array-delete': {
      isOfTypes: true,
      severity: 'medium',
      what: 'delete on an array leaves a hole and its length as it was',
      todo: 'Use splice()',
    },
    'no-async-promise-executor': {
      severity: 'medium',
      what: 'The function of this new Promise is async: what it throws is lost, and the promise stays open for ever',
      todo: 'Do the awaiting outside, or catch and reject inside',
    },
    'no-unsafe-finally': {
      severity: 'high',
      what: 'finally leaves by itself, so what was thrown or returned before is lost',
      todo: 'Move the return, throw, break or continue out of finally',
    },
    'no-ex-assign': {
      severity: 'medium',
      what: 'The caught error is overwritten, so nobody learns what happened',
      todo: 'Use another variable',
    },
    'oxc/missing-throw': {
      severity: 'high',
      what: 'The error is made and not thrown, so nothing happens',
      todo: 'Write throw before it',
    },
    'unicorn/no-await-in-promise-methods': {
      severity: 'low',
      what: 'Inside Promise.all() and its like, await makes the promises run one after the other',
      todo: 'Leave out the await',
    },
    'promise/valid-params': {
      severity: 'medium',
      what: 'The method of the promise takes another number of arguments',
      todo: 'Give it those that it takes',
      isQuoted: true,
    },
    'promise/no-new-statics': {
      severity: 'high',
      what: 'Promise.resolve and its like are no constructors: new throws',
      todo: 'Leave out the new',
    },
  },
});
