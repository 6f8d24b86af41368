import { isTest } from './aside.ts';
import { lintTool } from './oxlint.ts';

/** Finds elements of JSX that not everybody can use. */
export const jsxAccessibility = lintTool({
  name: 'oxlint-jsx-a11y',
  module: import.meta.url,
  replaces: 'the rules ui.* on JSX',
  nothing: 'no components',
  plugins: ['jsx-a11y'],
  takes: (file) => /\.[cm]?[jt]sx$/.test(file) && !isTest(file),
  rules: {
    medium: {
      'jsx-a11y/alt-text':
        'A screen reader has nothing to say about this image. Give it an alt text, or alt="" where it only decorates',
      'jsx-a11y/heading-has-content': 'The heading is empty. Give it text',
      'jsx-a11y/iframe-has-title': 'Nobody who cannot see it learns what is in this frame. Give it a title',
      'jsx-a11y/html-has-lang':
        'The page does not say its language, so it is read out in the wrong one. Give html a lang',
      'jsx-a11y/lang': 'This is no language. Use a tag such as en or pt-BR',
      'jsx-a11y/aria-props': 'There is no such aria property, so it does nothing. Use one that exists',
      'jsx-a11y/aria-proptypes':
        'The aria property cannot have this value, so it does nothing. Give it one that it takes',
      'jsx-a11y/aria-role': 'There is no such role, so it does nothing. Use one that exists',
      'jsx-a11y/aria-unsupported-elements': 'This element takes no role and no aria properties. Remove them',
      'jsx-a11y/no-aria-hidden-on-focusable':
        'The keyboard reaches this element, and a screen reader says nothing about it. Remove aria-hidden, or take it out of the tab order',
      'jsx-a11y/no-distracting-elements': 'It moves or blinks, and cannot be stopped. Use CSS',
      'jsx-a11y/tabindex-no-positive':
        'A positive tabIndex comes before everything else on the page. Use 0, and the order of the elements',
    },
    low: {
      'jsx-a11y/role-supports-aria-props':
        'The role does not know this aria property. Remove it, or use another role',
      'jsx-a11y/scope': 'Only th takes a scope. Use th',
      'jsx-a11y/mouse-events-have-key-events':
        'What happens under the mouse does not happen with the keyboard. Handle onFocus and onBlur too',
      'jsx-a11y/autocomplete-valid':
        'Browsers know no such autocomplete. Use one of the words that they know',
    },
  },
  particulars: {
    'jsx-a11y/alt-text': { isTold: ({ rest }) => !takesMore(rest) },
    'jsx-a11y/iframe-has-title': { isTold: ({ rest }) => !takesMore(rest) },
    'jsx-a11y/heading-has-content': { isTold: ({ rest }) => !takesMore(rest) },
    'jsx-a11y/html-has-lang': { isTold: ({ rest }) => !takesMore(rest) },
    'jsx-a11y/aria-props': { isQuoted: true },
    'jsx-a11y/aria-proptypes': { isQuoted: true },
    'jsx-a11y/aria-role': { options: { ignoreNonDOM: true } },
    'jsx-a11y/role-supports-aria-props': { isQuoted: true },
  },
});

const tagOf = (rest: string): string => /^<?(?:=>|[^>])*/.exec(rest)?.[0] ?? '';

/** Whether the element has spread properties, among which a missing one may be. */
const takesMore = (rest: string): boolean => /\{\s*\.\.\./.test(tagOf(rest));
