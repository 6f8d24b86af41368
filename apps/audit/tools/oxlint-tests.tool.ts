import { join } from 'node:path/posix';
import { readSource } from '@orrery/ralph-loop/findings/read-source';
import { foldersAbove } from './folders-above.ts';
import { lintTool } from './oxlint.ts';

const isTest = (file: string): boolean =>
  /[.-](test|spec)\.[cm]?[jt]sx?$/.test(file) || /(^|\/)(__tests__|tests?)\/.*\.[cm]?[jt]sx?$/.test(file);

/** Finds tests of vitest and jest that do not run, cannot fail, or prove nothing. */
export const tests = lintTool({
  name: 'oxlint-tests',
  module: import.meta.url,
  replaces: 'the rules tests.*',
  nothing: 'no tests',
  plugins: ['vitest', 'jest'],
  takes: isTest,
  // Other runners have their own `it` and `expect`. A file without either tests types.
  isMeant: (text, file, root) =>
    runsOn(root, file, text) &&
    /\b(?:it|test|describe|bench)(?:\.\w+)*\s*[(`]/.test(text) &&
    !/\bcy\.\w+\(|\bCypress\./.test(text) &&
    !/['"](node:test|mocha|chai|ava|tap|uvu|cypress|@playwright\/test|bun:test|japa)['"/]/.test(text),
  rules: {
    low: {
      'vitest/hoisted-apis-on-top':
        'vi.mock() runs before everything else in the file, not where it stands. Put it at the top, or use vi.doMock()',
    },
    medium: {
      'vitest/no-focused-tests':
        'Only this test runs: all others of the file are skipped, and nobody is told. Remove .only',
      'jest/no-focused-tests':
        'Only this test runs: all others of the file are skipped, and nobody is told. Remove .only, or the f before it',
      'vitest/valid-expect':
        'This expect() asserts nothing, or nobody awaits it, so it cannot fail the test. Call a matcher; await it where it is a promise',
      'vitest/require-awaited-expect-poll':
        'expect.poll() gives a promise that nobody awaits, so it cannot fail the test. Await it',
    },
  },
  particulars: {
    'vitest/valid-expect': {
      options: { maxArgs: 2 },
      isQuoted: true,
      // Leaves out promises in variables, which may be awaited later; chains of chai, which end in properties; and helpers
      // that assert.
      isTold: ({ message, rest, text }) =>
        !message.includes('modifier') &&
        /(?:^|\n)[ \t]*$/.test(text.slice(0, -rest.length)) &&
        !/^expect\((?:(?!\bexpect\(|;)[\s\S]){0,2000}?\)\s*\.(?:to|eventually)\b/.test(rest) &&
        !/^expect\(\s*(?:await\s+)?(?:[\w.]+\.)?(?:assert|expect|verify|check)\w*\(/.test(rest),
    },
  },
});

/** Whether the file, or a manifest above it, names vitest or jest. */
function runsOn(root: string, file: string, text: string): boolean {
  if (/['"](?:vitest|@jest\/globals)['"]/.test(text)) return true;
  const manifests = foldersAbove(file).map((folder) => readSource(root, join(folder, 'package.json')));
  return manifests.some(
    (read) => 'source' in read && /"(?:[\w@/-]*[/-])?(?:vitest|jest|react-scripts)"/.test(read.source.text),
  );
}
