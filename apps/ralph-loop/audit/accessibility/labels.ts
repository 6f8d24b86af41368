import { descendantsOf, isElement, textOf, type UiElement } from './element.ts';
import { idOf, isField, mayBeLabelledAround, maySaySomething } from './naming.ts';

/**
 * The labels and ids of one document. In JSX a component is no document: what a label is for may stand elsewhere.
 */
export class Labels {
  readonly #isWhole: boolean;
  readonly #ids = new Set<string>();
  readonly #labelled = new Set<string>();
  #isComputed = false;

  /** `document` is absent in JSX. */
  constructor(document?: UiElement) {
    this.#isWhole = document !== undefined;
    for (const element of document === undefined ? [] : descendantsOf(document)) {
      const id = idOf(element);
      if (id !== undefined) this.#ids.add(id);
      if (element.name === 'html' || element.name !== 'label') continue;
      const target = element.attributes.get('for');
      if (target?.text !== undefined && !/[{}<>%$]/.test(target.text)) this.#labelled.add(target.text);
      else if (target !== undefined || element.hasOthers) this.#isComputed = true;
    }
  }

  /** Whether a field may have a label, around it or elsewhere. */
  mayLabel(field: UiElement): boolean {
    if (mayBeLabelledAround(field)) return true;
    if (!field.attributes.has('id')) return false;
    const id = idOf(field);
    return !this.#isWhole || this.#isComputed || id === undefined || this.#labelled.has(id);
  }

  /** Whether a label surely belongs to nothing. */
  isLost(label: UiElement): boolean {
    // Something may be labelled by its id.
    if (label.hasOthers || label.attributes.has('id') || !maySaySomething(label)) return false;
    if (label.attributes.has('for')) {
      const target = textOf(label, 'for');
      return this.#isWhole && target !== undefined && /^[\w-]+$/.test(target) && !this.#ids.has(target);
    }
    return !holdsControl(label);
  }
}

function holdsControl({ children }: UiElement): boolean {
  return children.some((child) => {
    if (typeof child === 'string') return false;
    if (!isElement(child)) return true;
    return child.isComponent || child.hasOthers || isLabelable(child) || holdsControl(child);
  });
}

const LABELABLE = new Set(['button', 'meter', 'output', 'progress', 'input']);

const isLabelable = (element: UiElement): boolean =>
  isField(element) || LABELABLE.has(element.name) || element.attributes.has('role');
