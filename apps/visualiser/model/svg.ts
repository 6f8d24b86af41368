/** A drawing as data: a page makes elements of it, `svgText` a file. */
export interface SvgNode {
  readonly tag: string;
  readonly attributes: Readonly<Record<string, string | number>>;
  readonly children: readonly (SvgNode | string)[];
}

export const svg = (
  tag: string,
  attributes: SvgNode['attributes'] = {},
  ...children: readonly (SvgNode | string | undefined)[]
): SvgNode => ({ tag, attributes, children: children.filter((child) => child !== undefined) });

/** The drawing as the text of an SVG file, which needs nothing else: it carries its own style. */
export function svgText(drawing: SvgNode): string {
  const attributes = { xmlns: 'http://www.w3.org/2000/svg', ...drawing.attributes };
  const children = [svg('style', {}, STYLE), ...drawing.children];
  return `${textOf({ ...drawing, attributes, children })}\n`;
}

function textOf({ tag, attributes, children }: SvgNode): string {
  const named = Object.entries(attributes).map(([name, value]) => ` ${name}="${escapeXml(String(value))}"`);
  const inside = children.map((child) => (typeof child === 'string' ? escapeXml(child) : textOf(child)));
  return inside.length === 0
    ? `<${tag}${named.join('')}/>`
    : `<${tag}${named.join('')}>${inside.join('')}</${tag}>`;
}

const ENTITIES: ReadonlyMap<string, string> = new Map([
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['"', '&quot;'],
  ["'", '&#39;'],
]);

/** Text as XML may carry it: characters that it may not hold at all stand there as a replacement character. */
export const escapeXml = (text: string): string =>
  text
    .replace(/[&<>"']/g, (sign) => ENTITIES.get(sign) ?? sign)
    .replace(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, '\uFFFD');

/** Light and dark, and readable without colour: lines differ by dash and width, states by frame and mark. */
const STYLE = `
svg { font: 12px system-ui, sans-serif; background: #ffffff; color-scheme: light dark; }
text { fill: #1c2430; } .halo { paint-order: stroke; stroke: #ffffff; stroke-width: 4px; } .quiet { fill: #56616f; } .bad { fill: #a3160f; }
.line { stroke: #56616f; fill: none; } .life { stroke: #aab3be; stroke-dasharray: 3 4; }
.box { fill: #f4f6f8; stroke: #56616f; } .frame { fill: none; stroke: #56616f; } .region { stroke-dasharray: 6 4; }
.active { fill: #dbe9ff; stroke: #0b57d0; stroke-width: 3; } .within { stroke: #0b57d0; stroke-width: 2; }
.answer { stroke-dasharray: 6 4; } .retry { stroke-dasharray: 2 3; } .wrong { stroke: #a3160f; stroke-width: 2; }
.tip { fill: #56616f; stroke: none; } .tip.wrong { fill: #a3160f; } .dot { fill: #1c2430; } .bar { fill: #c8d0da; stroke: #56616f; }
@media (prefers-color-scheme: dark) {
svg { background: #12161c; } text { fill: #e6eaf0; } .halo { stroke: #12161c; } .quiet { fill: #a5b0be; } .bad { fill: #ff9d94; }
.line { stroke: #a5b0be; } .life { stroke: #4a5563; } .box { fill: #1d242d; stroke: #8b97a6; } .frame { stroke: #8b97a6; }
.active { fill: #12305c; stroke: #8ab4f8; } .within { stroke: #8ab4f8; } .wrong { stroke: #ff9d94; }
.tip { fill: #a5b0be; } .tip.wrong { fill: #ff9d94; } .dot { fill: #e6eaf0; } .bar { fill: #38424f; stroke: #8b97a6; }
}`;

/** About how wide a text is in the font of drawings. */
export const textWidth = (text: string, size = 12): number => Math.ceil(text.length * size * 0.58);

/** The tip of an arrow at a point, in the direction that it comes from. */
export function arrowTip(
  { x, y }: { readonly x: number; readonly y: number },
  from: { readonly x: number; readonly y: number },
  className = '',
): SvgNode {
  const angle = Math.atan2(y - from.y, x - from.x);
  const at = (turn: number): string =>
    `${round(x - 9 * Math.cos(angle + turn))},${round(y - 9 * Math.sin(angle + turn))}`;
  return svg('polygon', {
    class: `tip ${className}`.trim(),
    points: `${round(x)},${round(y)} ${at(0.42)} ${at(-0.42)}`,
  });
}

export const round = (number: number): number => Math.round(number * 10) / 10;
