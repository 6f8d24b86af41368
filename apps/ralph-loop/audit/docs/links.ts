import { markdownNodes } from '../markdown/parse-markdown.ts';

/** A link, an image or a definition of a document. */
export interface Link {
  readonly url: string;
  readonly offset: number;
}

const HTML_LINK = /<(?:a|img)\s[^<>]*?\b(?:href|src)\s*=\s*["']([^"']+)["']/gi;

/** Every link of a document, those written in HTML included. */
export function* linksOf(text: string): Generator<Link> {
  const listed = contributorsIn(text);
  for (const { node, start } of markdownNodes(text)) {
    if (start >= listed.start && start < listed.end) continue;
    if (node.type === 'link' || node.type === 'image') yield { url: node.url, offset: start };
    // `[^1]: See` is a footnote in the dialects that have them.
    if (node.type === 'definition' && !node.identifier.startsWith('^'))
      yield { url: node.url, offset: start };
    if (node.type !== 'html') continue;
    for (const { 1: url = '', index } of node.value.replace(/<!--[\s\S]*?-->/g, blank).matchAll(HTML_LINK)) {
      yield { url, offset: start + index };
    }
  }
}

const blank = (comment: string): string => ' '.repeat(comment.length);

/** Where a program lists contributors: its anchors are there for their titles and lead nowhere. */
function contributorsIn(text: string): { readonly start: number; readonly end: number } {
  const start = text.indexOf('<!-- ALL-CONTRIBUTORS-LIST:START');
  if (start === -1) return { start: 0, end: 0 };
  const end = text.indexOf('<!-- ALL-CONTRIBUTORS-LIST:END', start);
  return { start, end: end === -1 ? text.length : end };
}

/** What a link of the repository means. */
export interface Target {
  /** Relative to the folder of the document; '' for the document itself. */
  readonly path: string;
  readonly anchor: string;
}

const ADDRESS = /^(?:[a-z][a-z0-9+.-]*:|\/|\\)/i;
const PLACEHOLDER = /[<>{}$*|]|\.{3}|…/;
/** Lines of a source file, words of a page, and what every page has. */
const SPECIAL_ANCHOR = /^(?:L\d|:~:|top$|readme$|!|\/)/i;

/** The target of a link that leads into the repository, undefined for all others. */
export function targetOf(url: string): Target | undefined {
  if (url === '' || ADDRESS.test(url) || PLACEHOLDER.test(url)) return undefined;
  const [, path = '', anchor = ''] = /^([^?#]*)(?:\?[^#]*)?(?:#(.*))?$/s.exec(url) ?? [];
  try {
    const asked = decodeURIComponent(anchor);
    return { path: decodeURIComponent(path), anchor: SPECIAL_ANCHOR.test(asked) ? '' : asked };
  } catch {
    return undefined;
  }
}
