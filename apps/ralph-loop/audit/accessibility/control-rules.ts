import { CONTROL_ROLES } from './aria.ts';
import { ancestorsOf, descendantsOf, mayHave, SLOT, textOf, type UiElement } from './element.ts';
import type { Labels } from './labels.ts';
import { isField, isHidden, isLink, mayBeNamed, maySaySomething } from './naming.ts';

/** Whether a control has no name: neither content nor attribute nor label. */
export function isNamelessControl(element: UiElement, labels: Labels): boolean {
  if (element.isComponent || mayBeNamed(element) || isHidden(element)) return false;
  if (isField(element)) return !isSettled(element) && !labels.mayLabel(element);
  const isControl =
    element.name === 'button' || isLink(element) || CONTROL_ROLES.has(textOf(element, 'role') ?? '');
  if (!isControl || element.name === 'input' || maySaySomething(element)) return false;
  // What is empty and can be found by its id is filled when the page runs.
  return element.children.some((child) => typeof child === 'object') || !mayHave(element, 'id');
}

/** A placeholder names a field where nothing else does; what is disabled is nobody's to fill in. */
const isSettled = ({ attributes }: UiElement): boolean =>
  attributes.has('placeholder') || attributes.has('disabled');

/** Elements that mean nothing to a screen reader or only structure the page. */
const STATIC = new Set(
  'div span p li ul ol dl dt dd section article header footer main aside nav h1 h2 h3 h4 h5 h6 td tr img i b em strong small figure'.split(
    ' ',
  ),
);
const KEYS = ['onkeydown', 'onkeyup', 'onkeypress', 'onkeydowncapture'];
/** What is behind a dialog closes it for the mouse; the keyboard has Escape. */
const BACKDROP = /backdrop|overlay|mask|scrim|curtain/i;

/** Whether an element that is no control can be clicked, and nothing else. */
export function isMouseOnly(element: UiElement): boolean {
  const click = element.attributes.get('onclick');
  if (click === undefined || element.hasOthers || !STATIC.has(element.name)) return false;
  if (['role', 'contenteditable', ...KEYS].some((name) => element.attributes.has(name))) return false;
  if (/stopPropagation/.test(click.raw) || isHidden(element)) return false;
  if (BACKDROP.test(element.attributes.get('class')?.raw ?? '') || !maySeem(element)) return false;
  return !(holdsOperable(element) || [...ancestorsOf(element)].some(isOperable));
}

/** Something without content is no more than a surface. */
const maySeem = ({ name, children }: UiElement): boolean =>
  name === 'img' || children.some((child) => typeof child !== 'string' || child.trim() !== '');

const OPERABLE = new Set([
  'a',
  'button',
  'input',
  'select',
  'textarea',
  'label',
  'summary',
  'option',
  'video',
  'audio',
]);
const OPERABLE_COMPONENT =
  /button|link|input|checkbox|radio|switch|select|menu|item|trigger|field|toggle|anchor/i;

/** A click on the surroundings often does what the control inside does. */
const holdsOperable = (element: UiElement): boolean =>
  [element, ...descendantsOf(element)].some(({ children }) => children.includes(SLOT)) ||
  [...descendantsOf(element)].some(isOperable);

const isOperable = (element: UiElement): boolean =>
  element.isComponent
    ? OPERABLE_COMPONENT.test(element.name)
    : OPERABLE.has(element.name) || CONTROL_ROLES.has(textOf(element, 'role') ?? '');

/** Whether the keyboard reaches an element that a screen reader leaves out. */
export function isHiddenFocusable(element: UiElement): boolean {
  if (textOf(element, 'aria-hidden') !== 'true' || element.isComponent || element.hasOthers) return false;
  if (
    element.attributes.has('disabled') ||
    element.attributes.has('hidden') ||
    element.attributes.has('inert')
  )
    return false;
  const tabindex = element.attributes.get('tabindex');
  if (tabindex !== undefined) return /^\d+$/.test(tabindex.text ?? '');
  return element.name === 'button' || isLink(element) || isField(element);
}
