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
      severity: 'medium',
      what: 'Each round copies all that the rounds before it gathered: twice the items take four times as long',
      todo: 'Push to an array, or assign to one object, and return that',
    },
    'react/jsx-no-constructed-context-values': {
      severity: 'medium',
      what: 'The context gets a new value in every rendering, so everybody who reads it renders again',
      todo: 'Wrap the value in useMemo()',
    },
    'react/no-object-type-as-default-prop': {
      severity: 'low',
      what: 'The default is a new object in every rendering, so memo() and dependencies of hooks see a change each time',
      todo: 'Put it in a constant outside of the component',
    },
  },
});
