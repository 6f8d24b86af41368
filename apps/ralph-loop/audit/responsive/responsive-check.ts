import { descendantsOf, type UiElement } from '../accessibility/element.ts';
import { htmlDocument } from '../accessibility/html-elements.ts';
import { jsxElement } from '../accessibility/jsx-elements.ts';
import { isAside } from '../aside.ts';
import type { Defect } from '../evidence.ts';
import type { FileDefects, FileScan } from '../file-scan.ts';
import { isMadeByMachine } from '../made-by-machine.ts';
import { isTooMuchMarkup } from '../markup-size.ts';
import type { SourceText } from '../../findings/source-text.ts';
import { isScript } from '../syntax/parse-script.ts';
import { walkScript } from '../syntax/walk-script.ts';
import { checkImage } from './images.ts';
import { RESPONSIVE_RULES } from './rules.ts';
import { checkStyles } from './styles.ts';
import { checkPage, checkViewport, checkViewportExport } from './viewport.ts';
import { checkWebManifest, mayBeWebManifest } from './web-manifest.ts';

const HTML = /\.html?$/i;
const CSS = /\.css$/i;
/** Scripts that can hold elements, and those in which Next.js looks for a viewport. */
const PAGES = /\.([cm]?js|[jt]sx)$|(^|\/)(layout|page)\.ts$/i;
/** What others wrote and the team only keeps, and pages that no user sees. */
const FOREIGN =
  /(^|\/)(vendors?|third[-_]?party|libs?|bower_components|coverage|demos?)\/|(^|\/)(test|example|demo)s?[^/]*\.html?$/i;

const takes = (file: string): boolean =>
  !isAside(file) &&
  !FOREIGN.test(file) &&
  (HTML.test(file) || CSS.test(file) || PAGES.test(file) || mayBeWebManifest(file));

/** EUROPA's job: what does not fit a telephone. */
export const RESPONSIVE_CHECK: FileScan = {
  rules: RESPONSIVE_RULES,
  nothing: 'there are no pages, styles or web manifests to look at',
  takes,
  scan: checkResponsive,
};

const WORTH_PARSING = /<(img|meta)\b|\bviewport\b/;

function checkResponsive(source: SourceText): FileDefects {
  const { file, text } = source;
  if (mayBeWebManifest(file)) return checkWebManifest(source);
  if (isScript(file) && !WORTH_PARSING.test(text)) return { defects: [] };
  if (isMadeByMachine(source)) return { defects: [], generated: true };
  if (isScript(file)) return checkJsx(source);
  if (HTML.test(file)) return checkHtml(source);
  const styles = checkStyles(text);
  return 'unparsable' in styles ? { defects: [], ...styles } : styles;
}

function checkHtml(source: SourceText): FileDefects {
  if (isTooMuchMarkup(source.text)) return { defects: [], unparsable: 'has too many tags to be parsed' };
  try {
    const document = htmlDocument(source.text);
    const defects = checkPage(document, source);
    for (const element of descendantsOf(document)) {
      defects.push(...checkViewport(element), ...checkImage(element), ...checkStyleElement(element, source));
    }
    return { defects };
  } catch (error) {
    if (error instanceof RangeError) return { defects: [], unparsable: 'is nested too deeply to be walked' };
    throw error;
  }
}

function checkStyleElement({ name, children, offset }: UiElement, { text }: SourceText): Defect[] {
  const [css] = children;
  if (name !== 'style' || typeof css !== 'string') return [];
  const start = text.indexOf(css, offset);
  const styles = checkStyles(css);
  if (start === -1 || 'unparsable' in styles) return [];
  return styles.defects.map((defect) => ({ ...defect, offset: start + defect.offset }));
}

function checkJsx(source: SourceText): FileDefects {
  const defects: Defect[] = [];
  const unparsable = walkScript(source, (node, _scope, ancestors) => {
    defects.push(...checkViewportExport(node, source));
    if (node.type !== 'JSXElement') return;
    const element = jsxElement(node, ancestors, source);
    defects.push(...checkViewport(element), ...checkImage(element));
  });
  return { defects, unparsable };
}
