import { lintTool } from './oxlint.ts';

/** IO's: work that is done more often than it has to be. */
export const speed = lintTool({
  name: 'oxlint-speed',
  module: import.meta.url,
  replaces: 'the rules performance.*',
  plugins: ['oxc'],
  rules: {
    low: {
      'oxc/no-accumulating-spread':
        'Each round copies all that the rounds before it gathered: twice the items take four times as long. Push to an array, or assign to one object, and return that',
    },
  },
  particulars: {
    'oxc/no-accumulating-spread': {
      // What reduce() spreads is mostly short, and an object with the same names each time gathers nothing.
      isTold: ({ rest }) => !rest.startsWith('...') && !isOfOneShape(/^[\w$]+/.exec(rest)?.[0], rest),
    },
  },
});

/** Whether a variable is only given objects without computed names. */
const isOfOneShape = (name: string | undefined, text: string): boolean => {
  const given = [...text.matchAll(new RegExp(`\\b${name}\\s*=\\s*([[{])\\s*\\.\\.\\.[^;]*`, 'g'))];
  return given.length > 0 && given.every(([all, opening]) => opening === '{' && !/[{,]\s*\[/.test(all));
};
