import { lintTool } from './oxlint.ts';

const isReact = (text: string): boolean => /['"](@?[\w-]+\/)?(p?react)(-[\w-]+)?(\/[\w-]+)*['"]/.test(text);

/** Finds hooks and components of React that break its rules. */
export const react = lintTool({
  name: 'oxlint-react',
  module: import.meta.url,
  replaces: 'the rules realtime.*',
  plugins: ['react'],
  isMeant: isReact,
  rules: {
    medium: {
      'react/rules-of-hooks':
        'A hook has to be called in the same order in every rendering, and only by components and hooks. Call it at the top of the component, on every path',
      'react/jsx-key':
        'Elements of a list have no key: React mixes them up when the list changes. Give each the id of what it shows as its key',
      'react/jsx-no-duplicate-props':
        'The element has this property twice, and keeps the last one alone. Remove one of them',
      'react/no-direct-mutation-state':
        'The state is changed in place: nothing is rendered anew, and a later setState() may undo it. Use setState()',
      'react/no-danger-with-children':
        'An element has either children or dangerouslySetInnerHTML: with both React throws. Remove one of them',
      'react/void-dom-elements-no-children':
        'This element can hold nothing: with children React throws. Remove the children',
      'react/require-render-return': 'render() returns nothing. Return an element or null',
      'react/no-unstable-nested-components':
        'A component is defined while another renders: it is a new one each time, and loses its state. Move it out',
      'react/static-components':
        'A component is made while another renders: it is a new one each time, and loses its state. Move it out',
      'react/jsx-no-comment-textnodes': 'This comment is text: users read it. Put it in braces: {/* … */}',
      'react/no-string-refs': 'Refs by name are gone from React 19. Use useRef() or createRef()',
      'react/no-find-dom-node': 'findDOMNode() is gone from React 19. Use a ref',
      'react/no-render-return-value':
        'ReactDOM.render() is gone from React 19, and what it returns with it. Use createRoot()',
      'react/no-is-mounted': 'isMounted() is gone. Cancel the work when the component goes',
    },
    low: {
      'react/forward-ref-uses-ref':
        'forwardRef() around a component that takes no ref. Take the ref, or leave out forwardRef()',
    },
  },
  particulars: {
    // One early return makes all hooks after it conditional.
    'react/rules-of-hooks': {
      isQuoted: true,
      few: 1,
      // The first call in a try always runs.
      isTold: ({ rest, text }) =>
        !/\btry\s*\{\s*(?:return\s*)?$/.test(text.slice(0, text.length - rest.length)),
    },
    'react/static-components': { isCoveredBy: 'react/no-unstable-nested-components', few: 1 },
    'react/no-unstable-nested-components': { options: { allowAsProps: true } },
  },
});
