import { isScript, isTestOrFixture, lintTool } from './oxlint.ts';

/** ENCELADUS's second: text that becomes code. */
export const codeFromText = lintTool({
  name: 'oxlint-code-from-text',
  module: import.meta.url,
  replaces: 'the rules dangerous.*',
  nothing: 'no scripts',
  plugins: ['react'],
  takes: (file) => isScript(file) && !isTestOrFixture(file),
  rules: {
    'no-eval': {
      severity: 'medium',
      what: 'eval() runs whatever text reaches it, with all that this program may do',
      todo: 'Parse the text, or call a function',
    },
    'no-implied-eval': {
      severity: 'medium',
      what: 'A timer that gets text runs it as code',
      todo: 'Give it a function',
    },
    'react/jsx-no-script-url': {
      severity: 'medium',
      what: 'A javascript: address runs as code, also with text of users in it',
      todo: 'Use a button with a handler',
    },
  },
});
