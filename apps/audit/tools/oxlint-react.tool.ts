import { isScript, isTestOrFixture, lintTool } from './oxlint.ts';

export const isReact = (text: string): boolean =>
  /['"](@?[\w-]+\/)?(p?react)(-[\w-]+)?(\/[\w-]+)*['"]/.test(text);

/** TITAN's: hooks and components of React that break its rules. */
export const react = lintTool({
  name: 'oxlint-react',
  module: import.meta.url,
  replaces: 'the rules realtime.*',
  nothing: 'no scripts',
  plugins: ['react'],
  takes: (file) => isScript(file) && !isTestOrFixture(file),
  isMeant: isReact,
  rules: {
    'react/rules-of-hooks': {
      severity: 'medium',
      what: 'A hook has to be called in the same order in every rendering, and only by components and hooks',
      todo: 'Call it at the top of the component, on every path',
      isQuoted: true,
    },
    'react/exhaustive-deps': {
      severity: 'low',
      what: 'The hook reads what is not among its dependencies, so it works on old values',
      todo: 'Name it among them, or move it into the hook',
      isQuoted: true,
      // An effect may leave one out on purpose; what a callback leaves out is old when it is called.
      isTold: ({ message }) => /use(Callback|Memo)\b.*missing dependenc/.test(message),
    },
    'react/jsx-key': {
      severity: 'medium',
      what: 'Elements of a list have no key: React mixes them up when the list changes',
      todo: 'Give each the id of what it shows as its key',
    },
    'react/jsx-no-duplicate-props': {
      severity: 'medium',
      what: 'The element has this property twice, and keeps the last one alone',
      todo: 'Remove one of them',
    },
    'react/no-direct-mutation-state': {
      severity: 'medium',
      what: 'The state is changed in place: nothing is rendered anew, and a later setState() may undo it',
      todo: 'Use setState()',
    },
    'react/no-danger-with-children': {
      severity: 'medium',
      what: 'An element has either children or dangerouslySetInnerHTML: with both React throws',
      todo: 'Remove one of them',
    },
    'react/void-dom-elements-no-children': {
      severity: 'medium',
      what: 'This element can hold nothing: with children React throws',
      todo: 'Remove the children',
    },
    'react/require-render-return': {
      severity: 'medium',
      what: 'render() returns nothing',
      todo: 'Return an element or null',
    },
    'react/no-unstable-nested-components': {
      severity: 'medium',
      what: 'A component is defined while another renders: it is a new one each time, and loses its state',
      todo: 'Move it out',
      options: { allowAsProps: true },
    },
    'react/static-components': {
      severity: 'medium',
      what: 'A component is made while another renders: it is a new one each time, and loses its state',
      todo: 'Move it out',
    },
    'react/set-state-in-render': {
      severity: 'medium',
      what: 'Setting state while rendering, on every rendering, goes on for ever',
      todo: 'Set it in a handler or an effect',
    },
    'react/jsx-no-comment-textnodes': {
      severity: 'medium',
      what: 'This comment is text: users read it',
      todo: 'Put it in braces: {/* … */}',
    },
    'react/style-prop-object': {
      severity: 'medium',
      what: 'style takes an object: with text React throws',
      todo: 'Write style={{ … }}',
    },
    'react/no-string-refs': {
      severity: 'medium',
      what: 'Refs by name are gone from React 19',
      todo: 'Use useRef() or createRef()',
    },
    'react/no-find-dom-node': {
      severity: 'medium',
      what: 'findDOMNode() is gone from React 19',
      todo: 'Use a ref',
    },
    'react/no-render-return-value': {
      severity: 'medium',
      what: 'ReactDOM.render() is gone from React 19, and what it returns with it',
      todo: 'Use createRoot()',
    },
    'react/no-is-mounted': {
      severity: 'medium',
      what: 'isMounted() is gone',
      todo: 'Cancel the work when the component goes',
    },
    'react/forward-ref-uses-ref': {
      severity: 'low',
      what: 'forwardRef() around a component that takes no ref',
      todo: 'Take the ref, or leave out forwardRef()',
    },
  },
});
