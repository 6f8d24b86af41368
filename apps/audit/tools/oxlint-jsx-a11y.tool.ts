import { isTestOrFixture, lintTool } from './oxlint.ts';

/** VENUS's, for components: elements that not everybody can use. */
export const jsxAccessibility = lintTool({
  name: 'oxlint-jsx-a11y',
  module: import.meta.url,
  replaces: 'the rules ui.* on JSX',
  nothing: 'no components',
  plugins: ['jsx-a11y'],
  takes: (file) => /\.[cm]?[jt]sx$/.test(file) && !isTestOrFixture(file),
  rules: {
    'jsx-a11y/alt-text': {
      severity: 'medium',
      what: 'A screen reader has nothing to say about this image',
      todo: 'Give it an alt text, or alt="" where it only decorates',
    },
    'jsx-a11y/anchor-has-content': {
      severity: 'medium',
      what: 'A screen reader has nothing to say about this link',
      todo: 'Give it text, or an aria-label',
    },
    'jsx-a11y/heading-has-content': {
      severity: 'medium',
      what: 'The heading is empty',
      todo: 'Give it text',
    },
    'jsx-a11y/iframe-has-title': {
      severity: 'medium',
      what: 'Nobody who cannot see it learns what is in this frame',
      todo: 'Give it a title',
    },
    'jsx-a11y/html-has-lang': {
      severity: 'medium',
      what: 'The page does not say its language, so it is read out in the wrong one',
      todo: 'Give html a lang',
    },
    'jsx-a11y/lang': {
      severity: 'medium',
      what: 'This is no language',
      todo: 'Use a tag such as en or pt-BR',
    },
    'jsx-a11y/aria-props': {
      severity: 'medium',
      what: 'There is no such aria property, so it does nothing',
      todo: 'Use one that exists',
      isQuoted: true,
    },
    'jsx-a11y/aria-proptypes': {
      severity: 'medium',
      what: 'The aria property cannot have this value, so it does nothing',
      todo: 'Give it one that it takes',
      isQuoted: true,
    },
    'jsx-a11y/aria-role': {
      severity: 'medium',
      what: 'There is no such role, so it does nothing',
      todo: 'Use one that exists',
      options: { ignoreNonDOM: true },
    },
    'jsx-a11y/aria-unsupported-elements': {
      severity: 'medium',
      what: 'This element takes no role and no aria properties',
      todo: 'Remove them',
    },
    'jsx-a11y/role-supports-aria-props': {
      severity: 'low',
      what: 'The role does not know this aria property',
      todo: 'Remove it, or use another role',
      isQuoted: true,
    },
    'jsx-a11y/no-aria-hidden-on-focusable': {
      severity: 'medium',
      what: 'The keyboard reaches this element, and a screen reader says nothing about it',
      todo: 'Remove aria-hidden, or take it out of the tab order',
    },
    'jsx-a11y/no-distracting-elements': {
      severity: 'medium',
      what: 'It moves or blinks, and cannot be stopped',
      todo: 'Use CSS',
    },
    'jsx-a11y/scope': { severity: 'low', what: 'Only th takes a scope', todo: 'Use th' },
    'jsx-a11y/tabindex-no-positive': {
      severity: 'medium',
      what: 'A positive tabIndex comes before everything else on the page',
      todo: 'Use 0, and the order of the elements',
    },
    'jsx-a11y/mouse-events-have-key-events': {
      severity: 'low',
      what: 'What happens under the mouse does not happen with the keyboard',
      todo: 'Handle onFocus and onBlur too',
    },
    'jsx-a11y/click-events-have-key-events': {
      severity: 'medium',
      what: 'Only a mouse can click this',
      todo: 'Use a button or a link; or a role, a tabIndex and a handler for keys',
    },
    'jsx-a11y/label-has-associated-control': {
      severity: 'low',
      what: 'The label belongs to no control',
      todo: 'Give it htmlFor, or put the control into it',
      options: { assert: 'either', depth: 5 },
    },
    'jsx-a11y/media-has-caption': {
      severity: 'low',
      what: 'Who cannot hear it learns nothing of this',
      todo: 'Add a track of captions',
    },
    'jsx-a11y/autocomplete-valid': {
      severity: 'low',
      what: 'Browsers know no such autocomplete',
      todo: 'Use one of the words that they know',
    },
    'jsx-a11y/img-redundant-alt': {
      severity: 'low',
      what: 'A screen reader says "image" by itself',
      todo: 'Leave the word out of the alt text',
    },
  },
});
