import type { Defect } from '../evidence.ts';
import type { SourceText } from '../../findings/source-text.ts';
import { ancestorsOf, descendantsOf, type UiElement } from './element.ts';
import { idOf } from './naming.ts';

/** A server, or a framework's template, decides what of this is in the document. */
const TEMPLATE = /\{\{|\{%|<%|<\?php|%[\w.]+%|^[ \t]*@(if|for|switch)\b/m;
const CONDITION = /^(\*ng|v-(if|else|else-if|for)$|ng-(if|repeat)|x-(if|for)$)/;

/** What is wrong with a whole HTML document. */
export function documentDefects(document: UiElement, source: SourceText): Defect[] {
  if (TEMPLATE.test(source.text)) return [];
  return [...duplicateIds(document, source), ...missingTitle(document, source)];
}

/** Ids that the elements below `around` share; in a picture they are its own. */
export function duplicateIds(around: UiElement, source: SourceText): Defect[] {
  const seen = new Map<string, UiElement>();
  const defects: Defect[] = [];
  for (const element of [around, ...descendantsOf(around)]) {
    const id = element.isComponent || isOptional(element) ? undefined : idOf(element);
    if (id === undefined) continue;
    const first = seen.get(id);
    if (first === undefined) seen.set(id, element);
    else {
      const { line } = source.positionAt(first.offset);
      const message = `The ${first.name} at line ${line} has the same id, ${id}`;
      defects.push({ rule: 'ui.duplicate-id', offset: element.offset, message });
    }
  }
  return defects;
}

const isOptional = (element: UiElement): boolean =>
  [element, ...ancestorsOf(element)].some(
    ({ name, attributes }) =>
      name === 'template' ||
      name === 'svg' ||
      name === 'noscript' ||
      [...attributes.keys()].some((one) => CONDITION.test(one)),
  );

function* missingTitle(document: UiElement, { text }: SourceText): Generator<Defect> {
  const elements = [...descendantsOf(document)];
  const html = elements.find(({ name }) => name === 'html');
  const head = elements.find(({ name }) => name === 'head');
  if (html === undefined || head === undefined || elements.some(({ name }) => name === 'title')) return;
  // A comment or a script in the head may stand for what a server puts there.
  if (/<!--(?!\[if)/.test(text.slice(head.offset, text.indexOf('</head', head.offset)))) return;
  yield { rule: 'ui.document-without-title', offset: head.offset };
}
