import { type DefaultTreeAdapterTypes as Tree, parse } from 'parse5';
import { type Attribute, COMPUTED, type Content, type UiElement } from './element.ts';

/**
 * The elements of an HTML file as a tree below a document without a name.
 *
 * Elements that the parser adds because HTML says so (`html`, `head`, `tbody`) are left out, their content is not.
 * Attributes of Angular and Vue count as what they set.
 */
export function htmlDocument(text: string): UiElement {
  const tree = parse(text, { sourceCodeLocationInfo: true });
  const document = elementOf('', 0, undefined);
  document.children.push(...contentOf(tree.childNodes, document));
  return document;
}

type Growing = UiElement & { readonly children: Content[] };

const elementOf = (name: string, offset: number, parent: UiElement | undefined): Growing => ({
  name,
  offset,
  parent,
  isComponent: name.includes('-') || name === 'slot',
  attributes: new Map(),
  hasOthers: false,
  children: [],
});

function contentOf(nodes: readonly Tree.ChildNode[], parent: UiElement): Content[] {
  return nodes.flatMap((node): Content[] => {
    if ('value' in node) return [node.value];
    // A server's language: `<?php … ?>` is a comment to HTML.
    if ('data' in node) return /^[?%]/.test(node.data) ? [COMPUTED] : [];
    if (!('tagName' in node)) return [];
    const within = 'content' in node ? [...node.childNodes, ...node.content.childNodes] : node.childNodes;
    const location = node.sourceCodeLocation;
    if (location === undefined || location === null) return contentOf(within, parent);
    const element = {
      ...elementOf(node.tagName.toLowerCase(), location.startOffset, parent),
      ...attributesOf(node),
    };
    element.children.push(...contentOf(within, element));
    return [element];
  });
}

/** `[alt]`, `:alt`, `v-bind:alt`, `[attr.alt]`, `ng-attr-alt`, `x-bind:alt`. */
const BOUND = /^(?:\[(?:attr\.)?([\w-]+)\]|(?:v-bind|x-bind)?:([\w-]+)(?:\..*)?|(?:ng-attr|ng)-(.+))$/;
/** `(click)`, `@click.prevent`, `v-on:click`. */
const HEARD = /^(?:\((\w+)(?:\..*)?\)|(?:@|v-on:|x-on:)(\w+)(?:[.:].*)?)$/;
const NO_NAME = /[{}<>%$#]|^v-bind$|^x-bind$/;

function attributesOf({ attrs }: Tree.Element): Pick<UiElement, 'attributes' | 'hasOthers'> {
  const attributes = new Map<string, Attribute>();
  let hasOthers = false;
  for (const { name, value } of attrs) {
    const bound = BOUND.exec(name);
    const heard = HEARD.exec(name);
    if (bound !== null)
      attributes.set(bound[1] ?? bound[2] ?? bound[3] ?? '', { text: undefined, raw: value });
    else if (heard !== null) attributes.set(`on${heard[1] ?? heard[2]}`, { text: undefined, raw: value });
    else if (NO_NAME.test(name)) hasOthers = true;
    else attributes.set(name, { text: value, raw: value });
  }
  return { attributes, hasOthers };
}
