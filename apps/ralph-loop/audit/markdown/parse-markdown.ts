import { fromMarkdown } from 'mdast-util-from-markdown';
import { piecesOf } from './pieces.ts';

type Root = ReturnType<typeof fromMarkdown>;

export type MarkdownNode = Root | Root['children'][number];

/** A node of a document, and where it begins and ends in its text. */
export interface PlacedNode {
  readonly node: MarkdownNode;
  readonly start: number;
  readonly end: number;
}

/** Quotes in quotes and lists in lists; what people write stays far below this. */
const MAX_MARKERS = 100;
const NESTED = new RegExp(`^(?:[ \\t]*(?:>|[-*+]|\\d+[.)])){${MAX_MARKERS}}`, 'm');

/** Why a document cannot be parsed, if so. */
export const markdownFault = (text: string): string | undefined =>
  NESTED.test(text) ? 'is nested too deeply to be parsed' : undefined;

/**
 * Every node of a document without a fault, in the order of the text.
 *
 * The dialect is CommonMark: tables and other extensions are paragraphs, and the links in them are found all the same. A
 * reference is only one if what it refers to is defined nearby; the definitions are found by themselves.
 */
export function* markdownNodes(text: string): Generator<PlacedNode> {
  for (const piece of piecesOf(text)) {
    const pending: MarkdownNode[] = [fromMarkdown(piece.text)];
    for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
      const { start, end } = node.position ?? {};
      yield { node, start: piece.offset + (start?.offset ?? 0), end: piece.offset + (end?.offset ?? 0) };
      if ('children' in node) pending.push(...[...node.children].reverse());
    }
  }
}

/** The words of a node, without the marks. */
export function wordsOf(node: MarkdownNode): string {
  if (node.type === 'text' || node.type === 'inlineCode') return node.value;
  if (node.type === 'image') return node.alt ?? '';
  return 'children' in node ? node.children.map(wordsOf).join('') : '';
}
