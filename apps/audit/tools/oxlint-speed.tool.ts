import { lintTool } from './oxlint.ts';

/** Finds work that is done more often than needed. */
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
      // Not in reduce(), which is mostly over short lists; not for objects that always have the same keys; and not in loops
      // that await, where copying costs nothing.
      isTold: ({ rest }) => {
        const name = /^[\w$]+/.exec(rest)?.[0];
        return !rest.startsWith('...') && !isOfOneShape(name, rest) && !isAwaited(name, rest);
      },
    },
  },
});

/** Whether the loop that collects into a variable awaits something. */
function isAwaited(name: string | undefined, text: string): boolean {
  const before = text.split(new RegExp(`\\b${name}\\s*=\\s*[[{]\\s*\\.\\.\\.`))[0] ?? '';
  return /\bawait\b/.test(before.split(/\b(?:for|while|do)\b/).at(-1) ?? '');
}

/** Whether a variable gets only objects without computed keys. */
const isOfOneShape = (name: string | undefined, text: string): boolean => {
  const given = [...text.matchAll(new RegExp(`\\b${name}\\s*=\\s*([[{])\\s*\\.\\.\\.[^;]*`, 'g'))];
  return given.length > 0 && given.every(([all, opening]) => opening === '{' && !/[{,]\s*\[/.test(all));
};
