import { rulesOf } from '../rule.ts';

/** What VENUS looks for. */
export const ACCESSIBILITY_RULES = rulesOf('venus', {
  'ui.image-without-alt': ['medium', 'An image has no alt text; one that only decorates has an empty one'],
  'ui.nameless-control': ['medium', 'A control has no name that a screen reader could say'],
  'ui.label-without-control': ['low', 'A label belongs to no control'],
  'ui.click-without-role': [
    'medium',
    'Only a mouse can do this: the element has neither a role nor a key handler',
  ],
  'ui.hidden-focusable': ['medium', 'The keyboard reaches what a screen reader is told to leave out'],
  'ui.positive-tabindex': ['low', 'A positive tabindex jumps ahead of the order of the page'],
  'ui.unknown-aria': ['low', 'There is no such ARIA attribute or role'],
  'ui.iframe-without-title': ['low', 'A frame has no title'],
  'ui.duplicate-id': ['low', 'Another element of the document has the same id'],
  'ui.html-without-lang': ['low', 'The document does not say in which language it is'],
  'ui.document-without-title': ['low', 'The document has no title'],
});
