/**
 * What is known of an attribute before anything runs: its text, or that it is computed.
 *
 * `raw` is how it is written.
 */
export interface Attribute {
  readonly text: string | undefined;
  readonly raw: string;
}

/** Content that is computed. */
export const COMPUTED = Symbol('computed');
/** Content that whoever uses a component puts there: `children`, a slot. */
export const SLOT = Symbol('slot');

/**
 * An element of HTML or JSX, as far as it is written out.
 *
 * - `name`         in lower case; a component's as it is written.
 * - `isComponent`  what it becomes is not known here: a component, a custom element.
 * - `attributes`   by their names in HTML, in lower case: `for`, `class`, `onclick`.
 * - `hasOthers`    there are attributes that are not written out (a spread, a template's).
 * - `parent`       as far as it is in the same file.
 */
export interface UiElement {
  readonly name: string;
  readonly isComponent: boolean;
  readonly offset: number;
  readonly attributes: ReadonlyMap<string, Attribute>;
  readonly hasOthers: boolean;
  readonly parent: UiElement | undefined;
  readonly children: readonly Content[];
}

export type Content = UiElement | string | typeof COMPUTED | typeof SLOT;

export const isElement = (content: Content): content is UiElement => typeof content === 'object';

/** The text of an attribute; undefined when there is none or it is computed. */
export const textOf = ({ attributes }: UiElement, name: string): string | undefined =>
  attributes.get(name)?.text;

/** Whether an element has an attribute, or may have it. */
export const mayHave = ({ attributes, hasOthers }: UiElement, name: string): boolean =>
  hasOthers || attributes.has(name);

/** The elements around an element, the nearest first. */
export function* ancestorsOf(element: UiElement): Generator<UiElement> {
  for (let at = element.parent; at !== undefined; at = at.parent) yield at;
}

/** All elements below an element, in the order of the source. */
export function* descendantsOf({ children }: UiElement): Generator<UiElement> {
  for (const child of children) {
    if (!isElement(child)) continue;
    yield child;
    yield* descendantsOf(child);
  }
}
