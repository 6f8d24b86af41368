import { ancestorsOf, type Content, isElement, textOf, type UiElement } from './element.ts';

const NAMES = ['aria-label', 'aria-labelledby', 'title'];
/** Attributes that fill an element when the page runs. */
const FILLS =
  /^(dangerouslysetinnerhtml|innerhtml|textcontent|innertext|children|v-html|v-text|x-text|x-html|ref|data-(i18n|l10n|bind|text|content).*|i18n.*)$/;

/** Whether something gives the element a name other than its content. */
export const mayBeNamed = (element: UiElement): boolean =>
  element.hasOthers || NAMES.some((name) => isSaid(element, name));

/** An attribute that is empty says nothing. */
function isSaid({ attributes }: UiElement, name: string): boolean {
  const attribute = attributes.get(name);
  return attribute !== undefined && attribute.text?.trim() !== '';
}

/** Whether a screen reader may find words in what an element contains. */
export function maySaySomething(element: UiElement): boolean {
  if (element.hasOthers || [...element.attributes.keys()].some((name) => FILLS.test(name))) return true;
  return element.children.some(maySay);
}

function maySay(content: Content): boolean {
  if (typeof content === 'string') return content.trim() !== '';
  if (!isElement(content)) return true;
  if (isHiddenItself(content)) return false;
  if (content.isComponent || mayBeNamed(content)) return true;
  // An image without alt is a finding of its own.
  if (content.name === 'img') return !content.attributes.has('alt') || isSaid(content, 'alt');
  if (content.name === 'style' || content.name === 'script') return false;
  return maySaySomething(content);
}

const HIDING_STYLE = /display\s*:\s*['"]?none|visibility\s*:\s*['"]?hidden/;
const HIDING_CLASS = /(^|[\s'"`])(hidden|invisible|d-none|sr-only|visually-hidden|visuallyhidden)($|[\s'"`])/;

function isHiddenItself(element: UiElement): boolean {
  const hidden = element.attributes.get('aria-hidden');
  return hidden !== undefined && hidden.text !== 'false';
}

/** Whether an element may be out of sight, or out of a screen reader's, by itself or by what is around it. */
export function isHidden(element: UiElement): boolean {
  return [element, ...ancestorsOf(element)].some(
    (one) => isHiddenItself(one) || one.attributes.has('hidden') || isStyledAway(one),
  );
}

const isStyledAway = ({ attributes }: UiElement): boolean =>
  HIDING_STYLE.test(attributes.get('style')?.raw ?? '') ||
  HIDING_CLASS.test(attributes.get('class')?.raw ?? '');

const NO_FIELD = new Set(['hidden', 'submit', 'reset', 'button', 'image']);

/** Whether an element is something to fill in or choose from. */
export function isField(element: UiElement): boolean {
  if (element.name === 'select' || element.name === 'textarea') return true;
  if (element.name !== 'input' || element.hasOthers) return false;
  const type = element.attributes.get('type');
  return type === undefined || (type.text !== undefined && !NO_FIELD.has(type.text.toLowerCase()));
}

export const isLink = (element: UiElement): boolean => element.name === 'a' && element.attributes.has('href');

const LABELLING = /label|field|form|control|input|item|group|wrapper/i;

/** Whether a label around a field, or a component that may be one, names it. */
export function mayBeLabelledAround(field: UiElement): boolean {
  if (field.parent?.isComponent) return true;
  for (const around of ancestorsOf(field)) {
    if (around.name === 'label') return true;
    if (around.isComponent && LABELLING.test(around.name)) return true;
  }
  return false;
}

/** The text of an id that is written out; templates make others. */
export function idOf(element: UiElement): string | undefined {
  const id = textOf(element, 'id');
  return id === undefined || id === '' || /[{}<>%$]/.test(id) ? undefined : id;
}
