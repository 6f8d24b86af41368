import { h, type JSX } from 'preact';
import { shownText } from '../model/shown-text.ts';
import type { SvgNode } from '../model/svg.ts';

/** The elements that a drawing may have: a worker makes them, and text from outside is only ever text. */
const TAGS: ReadonlySet<string> = new Set([
  'svg',
  'g',
  'title',
  'text',
  'rect',
  'line',
  'path',
  'polygon',
  'circle',
]);

/** A drawing as elements of the page. */
export function Drawn({ drawing }: { readonly drawing: SvgNode }): JSX.Element | null {
  if (!TAGS.has(drawing.tag)) return null;
  const children = drawing.children.map((child, at) =>
    typeof child === 'string' ? shownText(child, 600) : <Drawn key={at} drawing={child} />,
  );
  return h(drawing.tag, drawing.attributes as Record<string, unknown>, ...children) as JSX.Element;
}
