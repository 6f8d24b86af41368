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
      // What reduce() spreads is mostly short, an object with the same names each time gathers nothing, and beside what a
      // round waits for, copying costs nothing.
      isTold: ({ rest }) => {
        const name = /^[\w$]+/.exec(rest)?.[0];
        return !rest.startsWith('...') && !isOfOneShape(name, rest) && !isAwaited(name, rest);
      },
    },
  },
});

/** Whether the loop that gathers in a variable waits for something each round. */
function isAwaited(name: string | undefined, text: string): boolean {
  const before = text.split(new RegExp(`\\b${name}\\s*=\\s*[[{]\\s*\\.\\.\\.`))[0] ?? '';
  return /\bawait\b/.test(before.split(/\b(?:for|while|do)\b/).at(-1) ?? '');
}

/** Whether a variable is only given objects without computed names. */
const isOfOneShape = (name: string | undefined, text: string): boolean => {
  const given = [...text.matchAll(new RegExp(`\\b${name}\\s*=\\s*([[{])\\s*\\.\\.\\.[^;]*`, 'g'))];
  return given.length > 0 && given.every(([all, opening]) => opening === '{' && !/[{,]\s*\[/.test(all));
};
