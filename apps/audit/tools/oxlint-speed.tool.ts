import { isScript, isTestOrFixture, lintTool } from './oxlint.ts';

/** IO's: work that is done more often than it has to be. */
export const speed = lintTool({
  name: 'oxlint-speed',
  module: import.meta.url,
  replaces: 'the rules performance.*',
  nothing: 'no scripts',
  plugins: ['oxc', 'react'],
  takes: (file) => isScript(file) && !isTestOrFixture(file),
  rules: {
    'oxc/no-accumulating-spread': {
      // What reduce() spreads is mostly short.
      isTold: ({ rest }) => !rest.startsWith('...'),
      severity: 'low',
      what: 'Each round copies all that the rounds before it gathered: twice the items take four times as long',
      todo: 'Push to an array, or assign to one object, and return that',
    },
    'react/jsx-no-constructed-context-values': {
      // A hook gives the same value as long as it likes.
      isTold: ({ rest }) => !/^(value=)?\{?\s*(\w+\.)?use[A-Z]/.test(rest),
      severity: 'medium',
      what: 'The context gets a new value in every rendering, so everybody who reads it renders again',
      todo: 'Wrap the value in useMemo()',
    },
  },
});
