import { isAriaAttribute, isRole } from './aria.ts';
import { isHiddenFocusable, isMouseOnly, isNamelessControl } from './control-rules.ts';
import { textOf, type UiElement } from './element.ts';
import type { Labels } from './labels.ts';
import { isHidden, mayBeNamed } from './naming.ts';

/** What is wrong with an element: the rule, and how to say it if not in the rule's own words. */
export interface Fault {
  readonly rule: string;
  readonly message?: string;
}

/** What is wrong with one element, whatever else the document holds but its labels. */
export function* faultsOf(element: UiElement, labels: Labels): Generator<Fault> {
  if (isImageWithoutAlt(element)) yield { rule: 'ui.image-without-alt' };
  if (isNamelessControl(element, labels)) yield { rule: 'ui.nameless-control' };
  if (element.name === 'label' && labels.isLost(element)) yield { rule: 'ui.label-without-control' };
  if (isMouseOnly(element)) yield { rule: 'ui.click-without-role' };
  if (isHiddenFocusable(element)) yield { rule: 'ui.hidden-focusable' };
  if (/^[1-9]\d*$/.test(textOf(element, 'tabindex') ?? '')) yield { rule: 'ui.positive-tabindex' };
  if (isUntitledFrame(element)) yield { rule: 'ui.iframe-without-title' };
  if (isWithoutLanguage(element)) yield { rule: 'ui.html-without-lang' };
  yield* ariaFaults(element);
}

const isDecorative = (element: UiElement): boolean =>
  /^(none|presentation)$/.test(textOf(element, 'role') ?? '');

function isImageWithoutAlt(element: UiElement): boolean {
  const isImage =
    element.name === 'img' ||
    (element.name === 'area' && element.attributes.has('href')) ||
    (element.name === 'input' && textOf(element, 'type')?.toLowerCase() === 'image');
  if (!isImage || element.attributes.has('alt') || mayBeNamed(element) || isDecorative(element)) return false;
  return !isHidden(element) && !isDot(element);
}

/** Pictures and frames of one pixel count visitors. */
const isDot = (element: UiElement): boolean =>
  ['width', 'height'].some((side) => /^[01](px)?$/.test(textOf(element, side) ?? ''));

const isUntitledFrame = (element: UiElement): boolean =>
  element.name === 'iframe' &&
  !mayBeNamed(element) &&
  !isHidden(element) &&
  !isDot(element) &&
  !isDecorative(element);

function isWithoutLanguage(element: UiElement): boolean {
  if (element.name !== 'html' || element.hasOthers) return false;
  const languages = ['lang', 'xml:lang'].flatMap((name) => element.attributes.get(name) ?? []);
  return languages.every(({ text }) => text?.trim() === '');
}

function* ariaFaults(element: UiElement): Generator<Fault> {
  if (element.isComponent) return;
  for (const name of element.attributes.keys()) {
    if (/^aria-[a-z]+$/.test(name) && !isAriaAttribute(name)) {
      yield { rule: 'ui.unknown-aria', message: `There is no attribute ${name} in WAI-ARIA` };
    }
  }
  const role = textOf(element, 'role');
  if (role === undefined || !/^[a-z-]+( [a-z-]+)*$/i.test(role)) return;
  if (!role.toLowerCase().split(' ').some(isRole)) {
    yield { rule: 'ui.unknown-aria', message: `There is no role ${role} in WAI-ARIA` };
  }
}
