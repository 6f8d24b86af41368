import { lintTool } from './oxlint.ts';
import { isStrict } from './tsc/projects.ts';

/** Finds promises and errors that get lost. */
export const promises = lintTool({
  name: 'oxlint-promises',
  module: import.meta.url,
  replaces: 'the rules errors.* and resilience.*',
  plugins: ['typescript', 'unicorn', 'promise', 'oxc'],
  isTypeAware: true,
  rules: {
    medium: {
      'no-unsafe-finally':
        'finally leaves by itself, so what was thrown or returned before is lost. Move the return, throw, break or continue out of finally',
      'typescript/no-floating-promises':
        'Nobody waits for this promise, so the catch around it does not see it reject, and what follows runs before it is done. Await it, or give it a .catch() of its own',
      'typescript/no-array-delete': 'delete on an array leaves a hole and its length as it was. Use splice()',
      'no-async-promise-executor':
        'The function of this new Promise is async: what it throws is lost, and the promise stays open for ever. Do the awaiting outside, or catch and reject inside',
      'no-ex-assign': 'The caught error is overwritten, so nobody learns what happened. Use another variable',
      'typescript/no-misused-promises':
        'A promise stands where a value is needed: as a condition it is always true, and spread it is empty. Await it',
    },
    high: {
      'oxc/missing-throw': 'The error is made and not thrown, so nothing happens. Write throw before it',
      'promise/no-new-statics':
        'Promise.resolve and its like are no constructors: new throws. Leave out the new',
    },
    low: {
      'unicorn/no-await-in-promise-methods':
        'Inside Promise.all() and its like, await makes the promises run one after the other. Leave out the await',
    },
  },
  particulars: {
    'typescript/no-floating-promises': {
      options: {
        ignoreIIFE: true,
        allowForKnownSafeCalls: [
          { from: 'package', name: ['test', 'it', 'describe', 'suite'], package: 'node:test' },
        ],
      },
      isOfTypes: true,
      // Elsewhere work is often started on purpose, and Node reports its rejection.
      isTold: async ({ file, rest, text }) => {
        const { isWithinTry } = await import('./within-try.ts');
        const offset = text.length - rest.length;
        return !catchesAll(/^(?:this\.)?(\w+)\(/.exec(rest)?.[1], text) && isWithinTry(file, text, offset);
      },
    },
    // A try before the first await catches what is awaited in it.
    'no-async-promise-executor': {
      isTold: ({ rest }) => !/\btry\s*\{/.test(rest.split(/\bawait\b/)[0] ?? ''),
    },
    'typescript/no-misused-promises': {
      options: { checksConditionals: true, checksSpreads: true, checksVoidReturn: false },
      isOfTypes: true,
      // Without strict null checks the compiler does not know that a promise may be undefined.
      isTold: ({ root, file, rest, text }) =>
        isStrict(root, file) &&
        !MAY_STOP.test(rest) &&
        !mayBeNothing(/^[!(\s]*(?:[\w$#]+\.)*([\w$]+)/.exec(rest)?.[1], text),
    },
    'typescript/no-array-delete': { isOfTypes: true },
  },
});

/** Whether a function of this name awaits only within a try. */
const catchesAll = (name: string | undefined, text: string): boolean =>
  new RegExp(
    `\\basync (?:function )?${name}\\([^)]*\\)[^{;]*\\{${QUIET}try\\b|\\b${name} = async \\([^)]*\\)[^{;]*=>\\s*\\{${QUIET}try\\b`,
  ).test(text);
const QUIET = '(?:(?!\\b(?:await|return|throw)\\b)[^}])*?\\b';

/** An optional chain, which is a promise only by a cast. */
const MAY_STOP = /^[!(\s]*[\w$#.]+\?\./;

/**
 * Whether a variable or property of this name may be undefined: by its type, because it is not set yet, or because it is
 * looked up by a key.
 */
const mayBeNothing = (name: string | undefined, text: string): boolean =>
  new RegExp(
    `\\b${name}(?:\\?:|!?\\s*:[^=;\\n]*\\b(?:null|undefined)\\b)|\\blet ${name}:[^=;\\n]*;|\\b${name}\\s*=\\s*[\\w$.#]+(?:\\[[^\\]\\n]+\\]|\\.get\\([^)\\n]*\\))\\s*(?:;|\\n)`,
  ).test(text);
