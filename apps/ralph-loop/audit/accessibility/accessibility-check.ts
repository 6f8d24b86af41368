import { isAside } from '../aside.ts';
import type { Defect } from '../evidence.ts';
import type { FileDefects, FileScan } from '../file-scan.ts';
import { isMadeByMachine } from '../made-by-machine.ts';
import type { SourceText } from '../../findings/source-text.ts';
import { isScript } from '../syntax/parse-script.ts';
import { walkScript } from '../syntax/walk-script.ts';
import { documentDefects, duplicateIds } from './document-rules.ts';
import { descendantsOf, type UiElement } from './element.ts';
import { faultsOf } from './element-rules.ts';
import { htmlDocument } from './html-elements.ts';
import { jsxElement } from './jsx-elements.ts';
import { Labels } from './labels.ts';
import { ACCESSIBILITY_RULES } from './rules.ts';

const HTML = /\.html?$/i;
/** Scripts in TypeScript's other dialects cannot hold elements. */
const NO_ELEMENTS = /\.[cm]?ts$/i;
const WORTH_PARSING = /<[a-z]/;

/** VENUS' job: pages and components that some cannot use. */
export const ACCESSIBILITY_CHECK: FileScan = {
  rules: ACCESSIBILITY_RULES,
  nothing: 'there is no HTML or JSX to look at',
  takes: (file) => (HTML.test(file) || (isScript(file) && !NO_ELEMENTS.test(file))) && !isAside(file),
  scan: (source) => {
    if (!WORTH_PARSING.test(source.text)) return { defects: [] };
    if (isMadeByMachine(source)) return { defects: [], generated: true };
    return HTML.test(source.file) ? checkHtml(source) : checkJsx(source);
  },
};

function checkHtml(source: SourceText): FileDefects {
  try {
    const document = htmlDocument(source.text);
    const labels = new Labels(document);
    const elements = [...descendantsOf(document)];
    return {
      defects: [
        ...elements.flatMap((element) => defectsOf(element, labels)),
        ...documentDefects(document, source),
      ],
    };
  } catch (error) {
    if (error instanceof RangeError) return { defects: [], unparsable: 'is nested too deeply to be walked' };
    throw error;
  }
}

function checkJsx(source: SourceText): FileDefects {
  const defects: Defect[] = [];
  const labels = new Labels();
  const unparsable = walkScript(source, (node, _, ancestors) => {
    if (node.type !== 'JSXElement') return;
    const element = jsxElement(node, ancestors, source);
    defects.push(...defectsOf(element, labels));
    const isRoot = !/^JSX(Element|Fragment)$/.test(ancestors.at(-1)?.type ?? '');
    if (isRoot) defects.push(...duplicateIds(element, source));
  });
  return unparsable === undefined ? { defects } : { defects: [], unparsable };
}

const defectsOf = (element: UiElement, labels: Labels): Defect[] =>
  [...faultsOf(element, labels)].map((fault) => ({ ...fault, offset: element.offset }));
