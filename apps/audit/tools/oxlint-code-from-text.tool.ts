import { lintTool } from './oxlint.ts';

/** Finds text that is run as code. */
export const codeFromText = lintTool({
  name: 'oxlint-code-from-text',
  module: import.meta.url,
  replaces: 'the rules dangerous.*',
  plugins: ['react'],
  rules: {
    medium: {
      'no-eval':
        'eval() runs whatever text reaches it, with all that this program may do. Parse the text, or call a function',
      'no-implied-eval': 'A timer that gets text runs it as code. Give it a function',
      'react/jsx-no-script-url':
        'A javascript: address runs as code, also with text of users in it. Use a button with a handler',
    },
  },
  particulars: {
    // A literal text is code that somebody wrote.
    'no-eval': { isTold: ({ rest }) => !/^\W*eval\)?\(\s*(["'])[^"'\\]*\1\s*\)/.test(rest) },
  },
});
