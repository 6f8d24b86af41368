import { type AtRule, CssSyntaxError, type Declaration, parse, type Root, type Rule } from 'postcss';
import type { Defect } from '../evidence.ts';

/** A telephone held upright is rarely wider. */
const MAX_WIDTH_PX = 480;

/** The defects of one style sheet, or why it cannot be read. Offsets are its own. */
export type StyleDefects = { readonly defects: readonly Defect[] } | { readonly unparsable: string };

export function checkStyles(css: string): StyleDefects {
  if (hasTooManyRules(css)) return { unparsable: 'has too many rules to be parsed' };
  try {
    return { defects: defectsIn(parse(css)) };
  } catch (error) {
    if (error instanceof CssSyntaxError) return { unparsable: `cannot be parsed: ${error.reason}` };
    throw error;
  }
}

/** Style sheets of a megabyte have 20,000 rules; the tree of ten times as many takes more memory than a job has. */
const MAX_RULES = 60_000;

function hasTooManyRules(css: string): boolean {
  let rules = 0;
  for (let at = css.indexOf('{'); at !== -1; at = css.indexOf('{', at + 1))
    if (++rules > MAX_RULES) return true;
  return false;
}

function defectsIn(root: Root): Defect[] {
  const defects: Defect[] = [];
  const adapted = adaptedSelectors(root);
  root.walkDecls((declaration) => {
    const offset = declaration.source?.start?.offset ?? 0;
    if (/text-size-adjust$/i.test(declaration.prop) && /^none$/i.test(declaration.value)) {
      defects.push({ rule: 'responsive.text-zoom', offset });
    }
    const width = fixedWidth(declaration);
    if (width === undefined || !isForAnyScreen(declaration, adapted)) return;
    const message = `${selectorOf(declaration)} is ${width} pixels wide, whatever the screen`;
    defects.push({ rule: 'responsive.fixed-width', offset, message });
  });
  return defects;
}

function fixedWidth({ prop, value }: Declaration): number | undefined {
  if (!/^(min-)?width$/i.test(prop)) return undefined;
  const width = Number(/^(\d+(\.\d+)?)px$/i.exec(value.trim())?.[1] ?? 0);
  return width > MAX_WIDTH_PX ? width : undefined;
}

/** What is mostly put where it can be scrolled, what is printed, and what stands out of the flow for decoration. */
const ASIDE =
  /\b(table|thead|tbody|tr|td|th|col|pre|code|svg|canvas)\b|scroll|carousel|slider|swiper|track|marquee|print|::?(before|after)|@/i;

function isForAnyScreen(declaration: Declaration, adapted: ReadonlySet<string>): boolean {
  const selector = selectorOf(declaration);
  if (ASIDE.test(selector) || adapted.has(selector) || isWithin(declaration, CONDITIONS)) return false;
  const beside = (declaration.parent as Rule).nodes;
  return !beside.some(
    (one) =>
      one.type === 'decl' && (/^max-width$/i.test(one.prop) || /absolute|hidden|none/i.test(positionOf(one))),
  );
}

const positionOf = ({ prop, value }: Declaration): string =>
  /^(position|display|visibility)$/i.test(prop) ? value : '';

const selectorOf = ({ parent }: Declaration): string =>
  parent?.type === 'rule' ? squeezed((parent as Rule).selector) : '@';

const squeezed = (selector: string): string => selector.replace(/\s+/g, ' ').trim();

/** At-rules that choose by screen, and those that style nothing that stands in a page. */
const CONDITIONS = /^(media|container|(-\w+-)?keyframes|page|font-face|property)$/i;
const BY_SCREEN = /^(media|container)$/i;
/** Nobody nests as deep. */
const MAX_DEPTH = 30;

/** Whether a declaration stands in an at-rule whose name is like `names`, or too deep to say. */
function isWithin(declaration: Declaration, names: RegExp): boolean {
  let depth = 0;
  for (let at = declaration.parent; at !== undefined; at = at.parent as typeof at) {
    if (++depth > MAX_DEPTH || (at.type === 'atrule' && names.test((at as AtRule).name))) return true;
  }
  return false;
}

/** Selectors to which some at-rule gives another width: somebody has thought of other screens. */
function adaptedSelectors(root: Root): ReadonlySet<string> {
  const adapted = new Set<string>();
  root.walkDecls(/^((min|max)-)?width$|^display$/i, (declaration) => {
    if (!isWithin(declaration, BY_SCREEN)) return;
    adapted.add(selectorOf(declaration));
    for (const one of selectorOf(declaration).split(',')) adapted.add(one.trim());
  });
  return adapted;
}
