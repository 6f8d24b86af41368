import { lintTool } from './oxlint.ts';

/** IO's: work that is done more often than it has to be. */
export const speed = lintTool({
  name: 'oxlint-speed',
  module: import.meta.url,
  replaces: 'the rules performance.*',
  plugins: ['oxc', 'react'],
  rules: {
    low: {
      'oxc/no-accumulating-spread':
        'Each round copies all that the rounds before it gathered: twice the items take four times as long. Push to an array, or assign to one object, and return that',
    },
    medium: {
      'react/jsx-no-constructed-context-values':
        'The context gets a new value in every rendering, so everybody who reads it renders again. Wrap the value in useMemo()',
    },
  },
  particulars: {
    // What reduce() spreads is mostly short.
    'oxc/no-accumulating-spread': { isTold: ({ rest }) => !rest.startsWith('...') },
    'react/jsx-no-constructed-context-values': {
      // A hook gives the same value as long as it likes.
      isTold: ({ rest }) => !/^(value=)?\{?\s*(\w+\.)?use[A-Z]/.test(rest),
    },
  },
});
