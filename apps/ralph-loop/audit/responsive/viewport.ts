import { descendantsOf, textOf, type UiElement } from '../accessibility/element.ts';
import type { Defect } from '../evidence.ts';
import type { SourceText } from '../../findings/source-text.ts';
import type { Node } from '../syntax/node.ts';
import { unwrapped } from '../syntax/node.ts';
import { propertyOf } from '../syntax/properties.ts';

/** Text must be readable at twice its size (WCAG 2.2, 1.4.4). */
const MIN_SCALE = 2;

/** What a `<meta name="viewport">` forbids or fixes. */
export function checkViewport(element: UiElement): Defect[] {
  if (element.name !== 'meta' || textOf(element, 'name')?.toLowerCase() !== 'viewport') return [];
  const settings = new Map(
    (textOf(element, 'content') ?? '').split(/[,;]/).map((setting): [string, string] => {
      const [name = '', value = ''] = setting.split('=');
      return [name.trim().toLowerCase(), value.trim().toLowerCase()];
    }),
  );
  const { offset } = element;
  const width = settings.get('width') ?? '';
  const defects: Defect[] = [];
  if (isFixed(settings.get('user-scalable'), settings.get('maximum-scale'))) {
    defects.push({ rule: 'responsive.no-zoom', offset });
  }
  if (/^\d+$/.test(width)) {
    const message = `The page is ${width} pixels wide, on any screen`;
    defects.push({ rule: 'responsive.fixed-viewport', offset, message });
  }
  return defects;
}

function isFixed(scalable: string | undefined, most: string | undefined): boolean {
  return /^(no|0|false)$/.test(scalable ?? '') || (/^[\d.]+$/.test(most ?? '') && Number(most) < MIN_SCALE);
}

/** Next.js: `export const viewport = { userScalable: false }` in a layout or a page. */
export function checkViewportExport(node: Node, { file }: SourceText): Defect[] {
  if (node.type !== 'ExportNamedDeclaration' || !/(^|\/)(layout|page)\.[jt]sx?$/.test(file)) return [];
  if (node.declaration?.type !== 'VariableDeclaration') return [];
  return node.declaration.declarations.flatMap(({ id, init }): Defect[] => {
    if (id.type !== 'Identifier' || id.name !== 'viewport' || init === null) return [];
    const settings = unwrapped(init);
    if (settings.type !== 'ObjectExpression') return [];
    const [scalable, most] = [propertyOf(settings, 'userScalable'), propertyOf(settings, 'maximumScale')];
    const isForbidden = isFixed(literalOf(scalable), literalOf(most));
    return isForbidden ? [{ rule: 'responsive.no-zoom', offset: (scalable ?? most ?? init).start }] : [];
  });
}

const literalOf = (node: Node | undefined): string | undefined =>
  node?.type === 'Literal' ? String(node.value) : undefined;

const MAIL = /(^|[/_-])(e-?mails?|newsletters?|mails?|mjml)([/._-]|$)|schemas-microsoft-com/i;
/** What templates put into a head may be anything. */
const TEMPLATE = /\{\{|\{%|<%|<\?php|%[a-z]+\.head%|@(include|yield|section|stack)\b|<!--#include/i;

/** A whole page whose head says nothing of a viewport. */
export function checkPage(document: UiElement, { file, text }: SourceText): Defect[] {
  const elements = [...descendantsOf(document)];
  const head = elements.find(({ name }) => name === 'head');
  const isPage = head !== undefined && elements.some(({ name }) => name === 'body');
  if (!isPage || /viewport/i.test(text) || MAIL.test(file) || MAIL.test(text.slice(0, head.offset)))
    return [];
  const end = text.toLowerCase().indexOf('</head', head.offset);
  const inHead = text.slice(head.offset, end === -1 ? undefined : end).replace(/<title[^>]*>[^<]*/i, '');
  const isElsewhere = elements.some((one) => one.name === 'frameset' || isRedirect(one));
  return TEMPLATE.test(inHead) || isElsewhere
    ? []
    : [{ rule: 'responsive.no-viewport', offset: head.offset }];
}

const isRedirect = (element: UiElement): boolean =>
  element.name === 'meta' && textOf(element, 'http-equiv')?.toLowerCase() === 'refresh';
