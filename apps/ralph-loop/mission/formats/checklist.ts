import type { ListItem, Nodes, Paragraph } from 'mdast';
import { sha256 } from '../../findings/evidence.ts';
import { neededPackages } from '../needed-packages.ts';
import { type ForeignTask, type ForeignText, given, joined, repeatedKeys } from './foreign-mission.ts';

/** An item of a checklist. `mark` is the offset of the sign between its brackets. */
export interface CheckItem {
  readonly key: string;
  readonly title: string;
  readonly description?: string;
  readonly mark: number;
  readonly line: number;
  readonly isChecked: boolean;
  readonly style: 'plain' | 'numbered' | 'spec-kit';
  readonly isParallel: boolean;
  /** Keys of the items below it. */
  readonly parts: readonly string[];
}

export interface Checklist {
  readonly name?: string;
  readonly items: readonly CheckItem[];
}

const PACKAGES = [
  'mdast-util-from-markdown',
  'mdast-util-gfm-task-list-item',
  'micromark-extension-gfm-task-list-item',
];

/** Reads all items of a text that have a box. Rejects with MissionError if the packages for Markdown are not installed. */
export async function readChecklist(text: string, source: string): Promise<Checklist> {
  const [{ fromMarkdown }, { gfmTaskListItemFromMarkdown }, { gfmTaskListItem }] = await neededPackages(
    () =>
      Promise.all([
        import('mdast-util-from-markdown'),
        import('mdast-util-gfm-task-list-item'),
        import('micromark-extension-gfm-task-list-item'),
      ]),
    { source, what: 'A checklist in Markdown', names: PACKAGES },
  );
  const root = fromMarkdown(text, {
    extensions: [gfmTaskListItem()],
    mdastExtensions: [gfmTaskListItemFromMarkdown()],
  });
  return new ChecklistReader(text).read(root);
}

/** The tasks of a checklist. Items of OpenSpec, and those of spec-kit without `[P]`, wait for what stands before them. */
export function tasksOfChecklist({ name, items }: Checklist): ForeignText {
  if (items.length === 0)
    return { faults: ['expected items with a box, such as "- [ ] what is to be done"'] };
  const order = new Order();
  const tasks = items.map((item): ForeignTask => {
    const { key, title, description, isChecked, line, parts } = item;
    return {
      key,
      title,
      ...given('description', description),
      dependsOn: [...new Set([...order.before(item), ...parts])],
      state: isChecked ? 'done' : 'open',
      place: `line ${line}`,
    };
  });
  const faults = repeatedKeys(tasks);
  return faults.length > 0 ? { faults } : { mission: { ...given('name', name), tasks } };
}

/** What the items of a list wait for, one after the other. */
class Order {
  /** The last item that runs alone, and those after it that may run side by side. */
  #alone: readonly string[] = [];
  #parallel: string[] = [];

  before({ key, style, isParallel }: CheckItem): readonly string[] {
    if (style === 'plain') return [];
    if (isParallel) {
      this.#parallel.push(key);
      return this.#alone;
    }
    const waits = this.#parallel.length > 0 ? this.#parallel : this.#alone;
    this.#alone = [key];
    this.#parallel = [];
    return waits;
  }
}

class ChecklistReader {
  readonly #text: string;
  readonly #items: CheckItem[] = [];
  readonly #seen = new Map<string, number>();
  readonly #headings: string[] = [];
  #name: string | undefined;

  constructor(text: string) {
    this.#text = text;
  }

  read(root: Nodes): Checklist {
    this.#walk(root);
    return { ...given('name', this.#name), items: this.#items };
  }

  /** Reads what is below a node; returns the keys of the topmost items. Code has no nodes below it. */
  #walk(node: Nodes): string[] {
    if (node.type === 'heading') this.#enter(this.#sourceOf(node), node.depth);
    if (node.type === 'listItem' && typeof node.checked === 'boolean') return this.#item(node, node.checked);
    if (!('children' in node)) return [];
    return node.children.flatMap((child) => this.#walk(child));
  }

  #enter(heading: string, depth: number): void {
    const words = heading.replace(/^#+\s*|\s*#*$|\n[=-]+\s*$/g, '').trim();
    if (depth === 1 && words !== '') this.#name ??= words;
    this.#headings.length = Math.min(this.#headings.length, depth - 1);
    while (this.#headings.length < depth - 1) this.#headings.push('');
    this.#headings.push(words);
  }

  #item(item: ListItem, isChecked: boolean): string[] {
    const [first, ...rest] = item.children;
    const start = item.position?.start.offset ?? 0;
    const bracket = /^(?:[-+*]|\d+[.)])\s+\[/.exec(this.#text.slice(start, start + 64))?.[0];
    if (first?.type !== 'paragraph' || bracket === undefined) return [];
    const words = this.#words(first, start + bracket.length + 2);
    const named = nameOf(words);
    const key = named.id ?? this.#keyFor(words);
    const under = this.#headings.slice(1).filter((heading) => heading !== '');
    const parts = rest.flatMap((child) => this.#walk(child));
    const description = joined(
      under.length === 0 ? undefined : `Under: ${under.join(' / ')}`,
      ...rest.map((child) => this.#withoutBoxes(child)),
    );
    this.#items.push({
      key,
      title: named.title,
      ...given('description', description),
      mark: start + bracket.length,
      line: item.position?.start.line ?? 1,
      isChecked,
      style: named.style,
      isParallel: named.isParallel,
      parts,
    });
    return [key];
  }

  /** The text of an item's first paragraph, from behind its box. */
  #words({ position }: Paragraph, from: number): string {
    return this.#text
      .slice(from, position?.end.offset ?? from)
      .replace(/\s*\n\s*/g, ' ')
      .trim();
  }

  /** A list without the items that are tasks of their own. */
  #withoutBoxes(node: Nodes): string {
    if (node.type !== 'list') return this.#sourceOf(node);
    const plain = node.children.filter(({ checked }) => typeof checked !== 'boolean');
    return plain.map((item) => this.#sourceOf(item)).join('\n');
  }

  #sourceOf({ position }: Nodes): string {
    return this.#text.slice(position?.start.offset ?? 0, position?.end.offset ?? 0);
  }

  /** An id made of the text alone, so that it stays when items before it come and go. */
  #keyFor(words: string): string {
    const slug = words
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-|-$/g, '')
      .slice(0, 32)
      .replace(/-$/, '');
    const key = `${slug === '' ? 'item' : slug}-${sha256(words).slice(0, 6)}`;
    const times = (this.#seen.get(key) ?? 0) + 1;
    this.#seen.set(key, times);
    return times === 1 ? key : `${key}-${times}`;
  }
}

interface Named {
  readonly id?: string;
  readonly title: string;
  readonly style: CheckItem['style'];
  readonly isParallel: boolean;
}

/** The id that a text begins with: `T012 [P] [US1]` of spec-kit, `1.1` of OpenSpec, `US-001:` of others. */
function nameOf(words: string): Named {
  const kit = /^(T\d{3,})\s+((?:\[[^\]]*\]\s*)*)(.*)$/s.exec(words);
  if (kit !== null) {
    const [, id = '', labels = '', rest = ''] = kit;
    const kept = labels.replace(/\[P\]\s*/, '').trim();
    const title = joined(kept === '' ? undefined : kept, rest)?.replace(/\n+/g, ' ') ?? id;
    return { id, title, style: 'spec-kit', isParallel: labels.includes('[P]') };
  }
  const numbered = /^(\d+(?:\.\d+)+)[.:)]?\s+(\S.*)$/s.exec(words);
  if (numbered !== null)
    return { id: numbered[1] ?? '', title: numbered[2] ?? '', style: 'numbered', isParallel: false };
  const labelled = /^\**([A-Z][A-Z0-9]{0,9}-\d+)\**\s*[:.–-]?\**\s+(\S.*)$/s.exec(words);
  if (labelled !== null)
    return { id: labelled[1] ?? '', title: labelled[2] ?? '', style: 'plain', isParallel: false };
  return { title: words === '' ? 'An item without words' : words, style: 'plain', isParallel: false };
}
