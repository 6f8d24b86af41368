import { ancestorsOf, mayHave, type UiElement } from '../accessibility/element.ts';
import type { Defect } from '../evidence.ts';

/** By any of these an image may get its size; of what a class says nothing is known here. */
const SIZES = ['width', 'height', 'style', 'class', 'id', 'sizes', 'hidden', 'aria-hidden'];

/** An image that nothing in sight gives a size. */
export function checkImage(element: UiElement): Defect[] {
  if (element.name !== 'img' || !element.attributes.has('src')) return [];
  if (SIZES.some((name) => mayHave(element, name))) return [];
  for (const around of ancestorsOf(element)) {
    if (around.name === 'noscript' || around.name === 'svg' || around.isComponent) return [];
    // A rule such as `.logo img` would need it; so may one for the whole page, but that cannot give every image its size.
    if (mayHave(around, 'class') || mayHave(around, 'id') || mayHave(around, 'style')) return [];
  }
  return [{ rule: 'responsive.image-size', offset: element.offset }];
}
