import GithubSlugger from 'github-slugger';
import { markdownFault, markdownNodes, wordsOf } from './parse-markdown.ts';

const CUSTOM_ID = /\s*\{\s*#([\w-]+)[^}]*\}\s*$/;
const HTML_ID = /<[a-z][^<>]*?\s(?:id|name)\s*=\s*["']?([^"'\s>]+)/gi;

/** The places of a Markdown document that a link can name. */
export class Anchors {
  readonly #names: ReadonlySet<string>;

  private constructor(names: ReadonlySet<string>) {
    this.#names = names;
  }

  /** The anchors of a text; undefined if it cannot be parsed, so that nobody knows. */
  static of(text: string): Anchors | undefined {
    if (markdownFault(text) !== undefined) return undefined;
    const names = new Set([...text.matchAll(HTML_ID)].map(([, id = '']) => loose(id)));
    const slugger = new GithubSlugger();
    for (const { node } of markdownNodes(text)) {
      if (node.type !== 'heading') continue;
      const words = wordsOf(node);
      const own = CUSTOM_ID.exec(words)?.[1];
      if (own !== undefined) names.add(loose(own));
      names.add(loose(slugger.slug(words.replace(CUSTOM_ID, ''))));
    }
    return new Anchors(names);
  }

  /**
   * Whether there is such a place.
   *
   * Generators of documentation make anchors of headings each in their own way: only the letters and digits count.
   */
  has(anchor: string): boolean {
    return this.#names.has(loose(anchor.replace(/^user-content-/, '')));
  }
}

const loose = (anchor: string): string => anchor.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
