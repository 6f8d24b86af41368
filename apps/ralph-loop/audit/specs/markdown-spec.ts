import {
  type MarkdownNode,
  markdownFault,
  markdownNodes,
  type PlacedNode,
} from '../markdown/parse-markdown.ts';
import type { SourceText } from '../../findings/source-text.ts';
import { idDefinedBy, idOfHeading, idsIn, mentionsIds } from './requirement-ids.ts';

export interface PlacedId {
  readonly id: string;
  readonly offset: number;
}

/** `group` is the same for what stands in one list: there, an id twice is once too often. */
export interface Definition extends PlacedId {
  readonly group: string;
}

/**
 * What a Markdown file says about requirements.
 *
 * - `definitions`    where an id begins a heading, a list item or a row of a table of requirements.
 * - `citations`      every mention of an id, in prose or code spans; not in blocks of code.
 * - `emptyCriteria`  headings of acceptance criteria with nothing below them.
 * - `unparsable`     why nothing of it is known, if so.
 */
export interface MarkdownSpec {
  readonly definitions: readonly Definition[];
  readonly citations: readonly PlacedId[];
  readonly emptyCriteria: readonly number[];
  readonly unparsable?: string;
}

const CRITERIA = /^#*\s*(?:\d[\d.]*\s*)?acceptance criteria\s*:?\s*#*$/i;
const CRITERIA_LINE = /^#.*acceptance criteria/im;
const NOTHING: MarkdownSpec = { definitions: [], citations: [], emptyCriteria: [] };

export function readMarkdownSpec(source: SourceText): MarkdownSpec {
  if (!mentionsIds(source.text) && !CRITERIA_LINE.test(source.text)) return NOTHING;
  const fault = markdownFault(source.text);
  if (fault !== undefined) return { ...NOTHING, unparsable: fault };
  const reader = new SpecReader(source.text);
  for (const node of markdownNodes(source.text)) reader.read(node);
  reader.end();
  return reader;
}

class SpecReader implements MarkdownSpec {
  readonly definitions: Definition[] = [];
  readonly citations: PlacedId[] = [];
  readonly emptyCriteria: number[] = [];
  readonly #text: string;
  /** The headings above the place that is read, by depth. */
  #headings: string[] = [];
  #lists = 0;
  /** A heading of acceptance criteria below which nothing has come yet. */
  #announced: { readonly start: number; readonly end: number; readonly depth: number } | undefined;

  constructor(text: string) {
    this.#text = text;
  }

  read({ node, start, end }: PlacedNode): void {
    if (node.type === 'root') return;
    const text = this.#text.slice(start, end);
    this.#follows(node, start, text);
    if (node.type === 'heading') this.#readHeading(node.depth, start, end);
    else if (node.type === 'list') this.#readList(node, start - (node.position?.start.offset ?? 0));
    else if (node.type === 'paragraph') this.#readTable(text, start);
    else if (node.type === 'text' || node.type === 'inlineCode') {
      for (const { id, at } of idsIn(text)) this.citations.push({ id, offset: start + at });
    }
  }

  end(): void {
    if (this.#announced !== undefined) this.emptyCriteria.push(this.#announced.start);
    this.#announced = undefined;
  }

  /** What comes after an announcement is what was announced, but for comments and the next chapter. */
  #follows(node: MarkdownNode, start: number, text: string): void {
    if (this.#announced === undefined || start < this.#announced.end) return;
    if (node.type === 'html' && /^<!--[\s\S]*-->$/.test(text.trim())) return;
    if (node.type === 'heading' && node.depth <= this.#announced.depth) this.end();
    this.#announced = undefined;
  }

  #readHeading(depth: number, start: number, end: number): void {
    const text = this.#text.slice(start, end).replace(/^#+\s*/, '');
    const id = idOfHeading(text);
    const group = `heading ${this.#headings.slice(0, depth - 1).join('\n')}`;
    if (id !== undefined) this.definitions.push({ id, offset: start, group });
    this.#headings = [...this.#headings.slice(0, depth - 1), text];
    if (CRITERIA.test(text)) this.#announced = { start, end, depth };
  }

  /** `base` is where the positions of the nodes are counted from. */
  #readList({ children: items }: Extract<MarkdownNode, { type: 'list' }>, base: number): void {
    this.#lists += 1;
    for (const {
      children: [first],
    } of items) {
      if (first?.type !== 'paragraph') continue;
      const [start = 0, end = 0] = [first.position?.start.offset, first.position?.end.offset];
      const id = idDefinedBy(this.#text.slice(base + start, base + end).replace(/^\[[ xX]\]\s+/, ''));
      if (id !== undefined) this.definitions.push({ id, offset: base + start, group: `list ${this.#lists}` });
    }
  }

  /** Without an extension a table is a paragraph whose lines have bars. */
  #readTable(paragraph: string, start: number): void {
    const [head = '', rule = '', ...rows] = paragraph.split('\n');
    if (!head.includes('|') || !/^[\s|:-]+$/.test(rule) || !isOfRequirements(cellsOf(head))) return;
    this.#lists += 1;
    let offset = start + head.length + 1 + rule.length + 1;
    for (const row of rows) {
      const id = idDefinedBy(`${cellsOf(row)[0]?.trim() ?? ''}:`);
      if (id !== undefined) {
        this.definitions.push({ id, offset: offset + row.indexOf(id), group: `table ${this.#lists}` });
      }
      offset += row.length + 1;
    }
  }
}

const cellsOf = (row: string): string[] => row.replace(/^\s*\|/, '').split('|');

/** A table that says what is required; one that says where or whether it is done may name an id more than once. */
function isOfRequirements([first = '', second = '']: readonly string[]): boolean {
  return (
    /^\W*(id|ids|req|reqs|requirement|requirement id|no|nr|#|key|ref|criterion|ac|story)\W*$/i.test(first) &&
    /requirement|description|text|statement|criterion|criteria|story|title|shall|must|what|rule/i.test(second)
  );
}
