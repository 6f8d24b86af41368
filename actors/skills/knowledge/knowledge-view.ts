import { type CompiledRule, compileRule } from '../rules/compile-rule.ts';
import { TextIndex } from '../search/text-index.ts';
import type { SkillStore, TenantQueries } from '../store/skill-store.ts';
import { rulesOf } from './constraint.ts';
import { itemOf, type KnowledgeItem } from './knowledge-item.ts';
import { maySupersede } from './knowledge-items.ts';
import type { KnowledgeStatus } from './knowledge-status.ts';

const PAGE = 500;
const MOST_SUMMARY = 240;

/**
 * What is remembered of an item: all but its text.
 *
 * - `place`    in the index of words.
 * - `revision` that of the tenant when it was last changed: no other item has it.
 */
export type KnownItem = Omit<KnowledgeItem, 'content' | 'summary' | 'metadata'> & {
  readonly summary: string;
  readonly place: number;
  readonly revision: number;
};

/** The knowledge of one tenant as it was last read, with an index of its words. It reads what is new before each use, and is not to be kept after it. */
export class KnowledgeView {
  readonly #store: SkillStore;
  readonly #tenant: string;
  #known = new Map<string, KnownItem>();
  #texts = new TextIndex();
  /** By the id of what is superseded: those that say so, on either side. */
  #newer = new Map<string, Set<string>>();
  #rules = new WeakMap<KnownItem, readonly CompiledRule[]>();
  #revision = 0;
  #turn: Promise<void> = Promise.resolve();

  constructor(store: SkillStore, tenant: string) {
    this.#store = store;
    this.#tenant = tenant;
  }

  /** Brings it up to what is kept by now, and returns what `use` makes of it. */
  use<Result>(use: (view: this) => Result): Promise<Result> {
    // One at a time, and each after its caller: what that has written is there, and nothing is half read.
    const used = this.#turn.then(() => this.#read()).then(() => use(this));
    this.#turn = used.then(
      () => undefined,
      () => undefined,
    );
    return used;
  }

  get items(): Iterable<KnownItem> {
    return this.#known.values();
  }

  item(id: string): KnownItem | undefined {
    return this.#known.get(id);
  }

  /** How well the words of each item fit, by its place, 0 to 1. It is overwritten by the next query. */
  scores(query: string): Float32Array {
    return this.#texts.scores(query);
  }

  /** The status that counts: an accepted item that another accepted one supersedes is superseded. */
  statusOf(item: KnownItem): KnowledgeStatus {
    return item.status === 'accepted' && this.#isSuperseded(item) ? 'superseded' : item.status;
  }

  /** Ids of the items that say, or are said, to supersede one, whatever has become of them. */
  newerOf(id: string): string[] {
    return [...(this.#newer.get(id) ?? [])]
      .flatMap((newer) => this.#known.get(newer) ?? [])
      .sort((one, other) => one.revision - other.revision)
      .map((newer) => newer.id);
  }

  /** The constraints of an item, ready to be checked. */
  rulesOf(item: KnownItem): readonly CompiledRule[] {
    const known = this.#rules.get(item);
    if (known !== undefined) return known;
    const made = rulesOf(item).map(compileRule);
    this.#rules.set(item, made);
    return made;
  }

  #isSuperseded(old: KnownItem): boolean {
    for (const id of this.#newer.get(old.id) ?? []) {
      const newer = this.#known.get(id);
      if (newer?.status !== 'accepted') continue;
      // What an item says of itself holds wherever its successor is.
      if (old.supersededBy === id || maySupersede(newer, old)) return true;
    }
    return false;
  }

  #read(): Promise<void> {
    return this.#store.read(this.#tenant, async (queries) => {
      const now = await queries.selectFrom('knowledge_revisions').select('revision').executeTakeFirst();
      if (now === undefined || now.revision === this.#revision) return;
      if (this.#texts.isWorn) this.#forget();
      const from = this.#revision;
      await this.#readItems(queries, from);
      const gone = await queries
        .selectFrom('removed_knowledge')
        .select('id')
        .where('revision', '>', from)
        .execute();
      for (const { id } of gone) this.#drop(id);
      this.#revision = now.revision;
    });
  }

  async #readItems(queries: TenantQueries, from: number): Promise<void> {
    for (let after = from; ; ) {
      const rows = await queries
        .selectFrom('knowledge')
        .selectAll()
        .where('revision', '>', after)
        .orderBy('revision')
        .limit(PAGE)
        .execute();
      for (const row of rows) this.#put(itemOf(row), row.revision);
      const last = rows.at(-1);
      if (last === undefined || rows.length < PAGE) return;
      after = last.revision;
    }
  }

  #forget(): void {
    this.#known = new Map();
    this.#texts = new TextIndex();
    this.#newer = new Map();
    this.#revision = 0;
  }

  #put({ content, summary, metadata: _, ...item }: KnowledgeItem, revision: number): void {
    this.#drop(item.id);
    // What an item is called says more of it than a word somewhere in it.
    const text = [item.title, item.title, item.tags.join(' '), summary ?? '', content].join('\n');
    const place = this.#texts.add(text);
    this.#known.set(item.id, { ...item, summary: summary ?? beginningOf(content), place, revision });
    for (const [newer, old] of linksOf(item)) {
      const all = this.#newer.get(old) ?? new Set();
      this.#newer.set(old, all.add(newer));
    }
  }

  #drop(id: string): void {
    const item = this.#known.get(id);
    if (item === undefined) return;
    this.#known.delete(id);
    this.#texts.remove(item.place);
    for (const [newer, old] of linksOf(item))
      if (!this.#isSaidToo(newer, old)) this.#newer.get(old)?.delete(newer);
  }

  /** Whether the other side of a link says it as well. */
  #isSaidToo(newer: string, old: string): boolean {
    return (
      this.#known.get(newer)?.supersedes.includes(old) === true ||
      this.#known.get(old)?.supersededBy === newer
    );
  }
}

const linksOf = ({
  id,
  supersedes,
  supersededBy,
}: Pick<KnownItem, 'id' | 'supersedes' | 'supersededBy'>): [newer: string, old: string][] => [
  ...supersedes.map((old): [string, string] => [id, old]),
  ...(supersededBy === undefined ? [] : ([[supersededBy, id]] as [string, string][])),
];

/** The first paragraph that is no heading. */
function beginningOf(content: string): string {
  const paragraph = content.split(/\n\s*\n/, 20).find((one) => /\S/.test(one) && !/^\s*#/.test(one)) ?? '';
  const text = paragraph.replace(/\s+/g, ' ').trim();
  return text.length <= MOST_SUMMARY ? text : `${text.slice(0, MOST_SUMMARY).toWellFormed()}…`;
}
