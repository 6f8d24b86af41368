import { createHash } from 'node:crypto';
import { z } from 'zod';
import { taintFrom } from '../../../runtime/protocol/taint-from.ts';
import type { SkillStore } from '../store/skill-store.ts';
import { openFolder } from './folder-source.ts';
import { isGit, openGit } from './git-source.ts';
import type { KnowledgeItem } from './knowledge-item.ts';
import { KnowledgeRows } from './knowledge-rows.ts';
import type { FileText, KnowledgeSource, LastChange, OpenSource, SourceFile } from './knowledge-source.ts';
import { type KnowledgeFault, type KnowledgeFile, parseKnowledge } from './parse-knowledge.ts';

/** How many items are written at a time: all of them or none. */
const BATCH = 100;
const MOST_FAULTS = 100;
/** Change it when the same file makes another item. */
const READING = 1;

/** What has been done of a sync: who goes on with it counts on from there. */
export const SyncState = z.strictObject({
  source: z.string(),
  done: z.int().nonnegative(),
  added: z.int().nonnegative(),
  changed: z.int().nonnegative(),
  removed: z.int().nonnegative(),
});
export type SyncState = Readonly<z.infer<typeof SyncState>>;

/**
 * - `unchanged`  files that were known as they are.
 * - `faults`     of files that hold no item, the first hundred; `faultCount` how many there are.
 * - `commit`     at which a repository was read.
 */
export interface SyncResult {
  readonly source: string;
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
  readonly unchanged: number;
  readonly faults: readonly KnowledgeFault[];
  readonly faultCount: number;
  readonly commit: string | undefined;
}

/**
 * - `effect`   reaches the outside world, as `ctx.effect`.
 * - `state`    what an attempt before this one has done.
 * - `batch`    how many files are read, and at most how many items are written, at a time. @default 100
 * - `onBatch`  is told what is done, and how many files there are, after each batch that is kept.
 */
export interface SyncOptions {
  readonly signal: AbortSignal;
  readonly effect: <Result>(name: string, run: (signal: AbortSignal) => Promise<Result>) => Promise<Result>;
  readonly state?: SyncState | undefined;
  readonly batch?: number | undefined;
  readonly onBatch?: (state: SyncState, total: number) => void;
}

/**
 * Brings the items of a source up to its files: those of new and changed files are written, those whose file is gone, or holds no
 * item any more, are removed. It can be cut off at any time, and done again: then it goes on, and ends the same.
 *
 * Of files that say the same id the one with the first path counts. An id that an item has which is not of this source is a fault.
 * Fails with the signal's reason, and with what reading the source or writing fails with.
 */
export async function syncKnowledge(
  store: SkillStore,
  source: KnowledgeSource,
  options: SyncOptions,
): Promise<SyncResult> {
  const known = await knownItems(store, source);
  const opened = await options.effect('knowledge.open', async (signal) =>
    (await isGit(source.path)) ? openGit(source, signal) : openFolder(source, signal),
  );
  return new Sync({ store, source, opened, known, options }).run();
}

/** An item of the source as it was when the sync began. A file that has changed its id may have two for a while. */
interface KnownFile {
  readonly path: string | null;
  readonly id: string;
  readonly hash: string | null;
  readonly revision: number;
}

const knownItems = (store: SkillStore, { tenant, name }: KnowledgeSource): Promise<KnownFile[]> =>
  store.read(tenant, (queries) =>
    queries
      .selectFrom('knowledge')
      .select(['id', 'path', 'hash', 'revision'])
      .where('source', '=', name)
      .execute(),
  );

interface SyncDeps {
  readonly store: SkillStore;
  readonly source: KnowledgeSource;
  readonly opened: OpenSource;
  readonly known: readonly KnownFile[];
  readonly options: SyncOptions;
}

/** A file that has to be read. */
interface ReadFile {
  readonly file: SourceFile;
  readonly item: KnowledgeFile;
}

class Sync {
  readonly #deps: SyncDeps;
  /** Ids of the items that are kept, by the file and the hash that they were made of. */
  readonly #kept: ReadonlyMap<string, string>;
  /** Which file each id is of. */
  readonly #files = new Map<string, string>();
  readonly #faults: KnowledgeFault[] = [];
  #faultCount = 0;
  #state: SyncState;

  constructor(deps: SyncDeps) {
    const { source, opened, options } = deps;
    this.#deps = deps;
    this.#kept = new Map(deps.known.map(({ id, path, hash }) => [keyOf(path, hash), id]));
    const isOfThis = options.state?.source === source.name;
    const before = isOfThis ? options.state : { added: 0, changed: 0, removed: 0 };
    this.#state = { ...before, source: source.name, done: 0 } as SyncState;
    for (const fault of opened.faults) this.#fault(fault);
  }

  async run(): Promise<SyncResult> {
    const { source, opened, known, options } = this.#deps;
    const { files } = opened;
    const { batch = BATCH } = options;
    const changes = await this.#lastChanges();
    for (let from = 0; from < files.length; from += batch) {
      options.signal.throwIfAborted();
      await this.#take(files.slice(from, from + batch), changes);
      this.#done({ done: Math.min(from + batch, files.length) });
    }
    const gone = known.filter(({ id }) => !this.#files.has(id));
    for (let from = 0; from < gone.length; from += batch) {
      options.signal.throwIfAborted();
      this.#done({ removed: await this.#remove(gone.slice(from, from + batch)) });
    }
    const { added, changed, removed } = this.#state;
    return {
      source: source.name,
      added,
      changed,
      removed,
      unchanged: Math.max(0, this.#files.size - added - changed),
      faults: this.#faults,
      faultCount: this.#faultCount,
      commit: opened.commit,
    };
  }

  /** The id of what is kept of a file, if that was made of the same. */
  #keptId({ path, hash }: SourceFile): string | undefined {
    return this.#kept.get(keyOf(path, this.#hashOf(hash)));
  }

  /** What is not in the file, and an item is made of too, is in its hash. */
  #hashOf(hash: string): string {
    const { layer, scope, isOutside } = this.#deps.source;
    return createHash('sha256')
      .update(JSON.stringify([READING, hash, layer, scope, isOutside]))
      .digest('hex');
  }

  async #lastChanges(): Promise<ReadonlyMap<string, LastChange>> {
    const { opened, options } = this.#deps;
    const paths = opened.files.filter((file) => this.#keptId(file) === undefined).map(({ path }) => path);
    return options.effect('knowledge.log', (signal) => opened.lastChanges(new Set(paths), signal));
  }

  /** Files in the order of their paths: what stands before has the first right to an id. */
  async #take(files: readonly SourceFile[], changes: ReadonlyMap<string, LastChange>): Promise<void> {
    const { opened, options } = this.#deps;
    const unread = files.filter((file) => this.#keptId(file) === undefined);
    const texts = await options.effect('knowledge.read', (signal) => opened.texts(unread, signal));
    const read = new Map(unread.map((file, at) => [file.path, texts[at] as FileText]));
    const wanted: ReadFile[] = [];
    for (const file of files) {
      const keptId = this.#keptId(file);
      if (keptId !== undefined) {
        this.#claim(keptId, file.path);
        continue;
      }
      const text = read.get(file.path) as FileText;
      const item = this.#parse(file.path, text);
      const { hash = file.hash } = text;
      if (item !== undefined && this.#claim(item.id, file.path))
        wanted.push({ file: { path: file.path, hash }, item });
    }
    if (wanted.length > 0) await this.#write(wanted, changes);
  }

  #parse(path: string, { text, fault }: FileText): KnowledgeFile | undefined {
    if (text === undefined) {
      this.#fault({ file: path, message: fault });
      return undefined;
    }
    const { item, faults = [] } = parseKnowledge(path, text);
    for (const one of faults) this.#fault(one);
    return item;
  }

  /** Whether a file may have an id. */
  #claim(id: string, path: string): boolean {
    const other = this.#files.get(id);
    if (other === undefined) this.#files.set(id, path);
    else this.#fault({ file: path, message: `id is ${JSON.stringify(id)}, which "${other}" has` });
    return other === undefined;
  }

  async #write(wanted: readonly ReadFile[], changes: ReadonlyMap<string, LastChange>): Promise<void> {
    const { store, source } = this.#deps;
    const { added, changed, foreign } = await store.write(source.tenant, async (queries) => {
      const rows = await KnowledgeRows.change(queries, wanted.length);
      const were = await rows.findAll(wanted.map(({ item }) => item.id));
      const fresh: KnowledgeItem[] = [];
      const others: ReadFile[] = [];
      let replaced = 0;
      for (const one of wanted) {
        const { file } = one;
        const was = were.get(one.item.id);
        const item = this.#itemOf(one, changes.get(one.file.path), was);
        if (was === undefined) fresh.push(item);
        else if (was.origin === undefined || was.origin.source !== source.name) others.push(one);
        else if (was.origin.hash !== item.origin?.hash || was.origin.path !== file.path) {
          await rows.replace(was, item);
          replaced += 1;
        }
      }
      await rows.insert(fresh);
      return { added: fresh.length, changed: replaced, foreign: others };
    });
    for (const { file, item } of foreign) {
      this.#files.delete(item.id);
      this.#fault({
        file: file.path,
        message: `id is ${JSON.stringify(item.id)}, which an item has that is not of this source`,
      });
    }
    this.#count({ added, changed });
  }

  #itemOf(
    { file, item }: ReadFile,
    change: LastChange | undefined,
    was: KnowledgeItem | undefined,
  ): KnowledgeItem {
    const { source, opened } = this.#deps;
    const { atMs = 0, author, commit } = change ?? { commit: opened.commit };
    return {
      ...item,
      layer: item.layer ?? source.layer,
      scope: item.scope ?? source.scope,
      author,
      taint: source.isOutside ? taintFrom([`knowledge:${source.name}`]) : undefined,
      promotedFrom: undefined,
      origin: { source: source.name, path: file.path, hash: this.#hashOf(file.hash), commit },
      createdAtMs: was?.createdAtMs ?? atMs,
      updatedAtMs: atMs,
      version: was?.version ?? 1,
    };
  }

  /** Removes what is as it was when the sync began: what another one has written since is newer than what this one knows. */
  #remove(gone: readonly KnownFile[]): Promise<number> {
    const { store, source } = this.#deps;
    return store.write(source.tenant, async (queries) => {
      const rows = await KnowledgeRows.change(queries, gone.length);
      const there = await queries
        .selectFrom('knowledge')
        .select(['id', 'revision'])
        .where(
          'id',
          'in',
          gone.map(({ id }) => id),
        )
        .where('source', '=', source.name)
        .execute();
      const revisions = new Map(there.map(({ id, revision }) => [id, revision]));
      const ids = gone.filter(({ id, revision }) => revisions.get(id) === revision).map(({ id }) => id);
      await rows.remove(ids);
      return ids.length;
    });
  }

  #fault(fault: KnowledgeFault): void {
    this.#faultCount += 1;
    if (this.#faults.length < MOST_FAULTS) this.#faults.push(fault);
  }

  #count(more: Partial<Pick<SyncState, 'added' | 'changed' | 'removed'>>): void {
    const { added, changed, removed } = this.#state;
    this.#state = {
      ...this.#state,
      added: added + (more.added ?? 0),
      changed: changed + (more.changed ?? 0),
      removed: removed + (more.removed ?? 0),
    };
  }

  #done({
    done = this.#state.done,
    removed = 0,
  }: {
    readonly done?: number;
    readonly removed?: number;
  }): void {
    this.#count({ removed });
    this.#state = { ...this.#state, done };
    this.#deps.options.onBatch?.(this.#state, this.#deps.opened.files.length);
  }
}

const keyOf = (path: string | null, hash: string | null): string => `${hash}\n${path}`;
