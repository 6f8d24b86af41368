import type { z } from 'zod';
import { refused } from '../../../runtime/protocol/errors.ts';
import { mergeTaint, type Taint } from '../../../runtime/protocol/taint.ts';
import type { HandlingContext } from '../../../runtime/public.ts';
import { inputRequired, taskOf } from '../../tasks/index.ts';
import { approvalByCaller } from '../approval-by-caller.ts';
import { requireRole, type RoleNames } from '../role.ts';
import { type SkillCaller, skillCallerOf } from '../skill-caller.ts';
import type { SkillStore } from '../store/skill-store.ts';
import { checkKnowledge } from './check-knowledge.ts';
import { CheckedProject, isAnythingKnown } from './checked-project.ts';
import type {
  knowledgeAdd,
  knowledgeCheck,
  knowledgePromote,
  knowledgeQuery,
  knowledgeRemove,
  knowledgeShow,
  knowledgeStatus,
  knowledgeSync,
} from './knowledge-capabilities.ts';
import type { KnowledgeItem } from './knowledge-item.ts';
import { contentHashOf, KnowledgeItems } from './knowledge-items.ts';
import type { KnowledgeLayer } from './knowledge-layer.ts';
import type { KnowledgeSource } from './knowledge-source.ts';
import type { KnownItem } from './knowledge-view.ts';
import { KnowledgeViews } from './knowledge-views.ts';
import { queryKnowledge } from './query-knowledge.ts';
import { SyncState, syncKnowledge } from './sync-knowledge.ts';
import { writeKnowledge } from './write-knowledge.ts';

type Given<Declared extends { readonly input: z.ZodType }> = z.output<Declared['input']>;
type Answer<Declared extends { readonly output: z.ZodType }> = z.input<Declared['output']>;
type Context = HandlingContext<KnowledgeSkill>;

export interface KnowledgeSkillDeps {
  readonly store: SkillStore;
  readonly now: () => number;
  readonly newId: () => string;
  readonly roles: RoleNames | undefined;
  readonly sources: readonly KnowledgeSource[];
}

interface Reader {
  readonly signal: AbortSignal;
  readonly ended: Promise<void>;
}

/** In these layers a person decides on what is promoted. */
const APPROVED: ReadonlySet<KnowledgeLayer> = new Set(['org', 'company']);

/** What the agent of knowledge does for its callers. */
export class KnowledgeSkill {
  readonly #deps: KnowledgeSkillDeps;
  readonly #views: KnowledgeViews;
  readonly #items: KnowledgeItems;
  /** Who reads which source now. */
  readonly #readers = new Map<KnowledgeSource, Reader>();

  constructor(deps: KnowledgeSkillDeps) {
    this.#deps = deps;
    this.#views = new KnowledgeViews(deps.store);
    this.#items = new KnowledgeItems(deps);
  }

  close(): Promise<void> {
    return this.#deps.store.close();
  }

  async query(wanted: Given<typeof knowledgeQuery>, ctx: Context): Promise<Answer<typeof knowledgeQuery>> {
    const { tenant } = this.#caller(ctx);
    const page = await this.#views.use(tenant, (view) => {
      const { found, ...rest } = queryKnowledge(view, wanted);
      const items = found.map(({ item, score }) => ({
        ...aboutOf(item),
        status: view.statusOf(item),
        summary: item.summary,
        hasConstraints: item.constraints.length > 0,
        score,
      }));
      return { ...rest, items, taints: found.map(({ item }) => item.taint) };
    });
    mark(ctx, page.taints);
    const { items, totalCount, cursor } = page;
    return { success: true, items, totalCount, ...(cursor !== undefined && { cursor }) };
  }

  async show(
    { id, history, markdown }: Given<typeof knowledgeShow>,
    ctx: Context,
  ): Promise<Answer<typeof knowledgeShow>> {
    const caller = this.#caller(ctx);
    const item = await this.#items.find(caller, id);
    const { status, supersededBy } = await this.#views.use(caller.tenant, (view) => {
      const known = view.item(id);
      return { status: known && view.statusOf(known), supersededBy: view.newerOf(id) };
    });
    const versions = history ? await this.#items.versions(caller, id) : [];
    mark(ctx, [item.taint, ...versions.map(({ taint }) => taint)]);
    const { summary, severity, promotedFrom, author } = item;
    const said = item.supersededBy;
    return {
      success: true,
      ...aboutOf(item),
      status: status ?? item.status,
      content: item.content,
      ...(summary !== undefined && { summary }),
      ...(severity !== undefined && { severity }),
      constraints: [...item.constraints],
      metadata: item.metadata,
      supersedes: [...item.supersedes],
      supersededBy:
        said === undefined || supersededBy.includes(said) ? supersededBy : [...supersededBy, said],
      ...(promotedFrom !== undefined && { promotedFrom }),
      ...(author !== undefined && { author }),
      createdAt: item.createdAtMs,
      version: item.version,
      ...(history && {
        history: versions.map(({ author: by, commit, updatedAtMs, taint: _, ...version }) => ({
          ...version,
          ...(by !== undefined && { author: by }),
          ...(commit !== undefined && { commit }),
          updatedAt: updatedAtMs,
        })),
      }),
      ...(markdown && { markdown: writeKnowledge(documentOf(item)) }),
    };
  }

  async check(input: Given<typeof knowledgeCheck>, ctx: Context): Promise<Answer<typeof knowledgeCheck>> {
    const { tenant } = this.#caller(ctx);
    const { minSeverity, knowledgeItemIds: ids, layer, scopes, ...given } = input;
    const project = isAnythingKnown(given) ? given : saidOf(ctx);
    const { violations, checked, ...result } = await this.#views.use(tenant, (view) =>
      checkKnowledge(view, project, { ids, layer, scopes, minSeverity }),
    );
    mark(
      ctx,
      violations.map(({ item }) => item.taint),
    );
    return {
      ...result,
      violations: violations.map(({ item, violation: { ruleId: _, ...violation } }) => ({
        itemId: item.id,
        itemTitle: item.title,
        ...violation,
      })),
      checkedItems: checked.length,
    };
  }

  async add(said: Given<typeof knowledgeAdd>, ctx: Context): Promise<Answer<typeof knowledgeAdd>> {
    const item = await this.#items.add(this.#caller(ctx), said, ctx.envelope.metadata?.taint);
    return changed(item, `Added "${item.title}" as ${item.status}`);
  }

  async setStatus(
    { id, status }: Given<typeof knowledgeStatus>,
    ctx: Context,
  ): Promise<Answer<typeof knowledgeStatus>> {
    const item = await this.#items.setStatus(this.#caller(ctx), id, status);
    mark(ctx, [item.taint]);
    return changed(item, `"${item.title}" is ${item.status}`);
  }

  async promote(
    { id, toLayer, scope }: Given<typeof knowledgePromote>,
    ctx: Context,
  ): Promise<Answer<typeof knowledgePromote>> {
    const caller = this.#caller(ctx);
    const { item, made: known } = await this.#items.promotable(caller, id, { toLayer, scope });
    await this.#requireHolds(caller, id);
    const taint = mergeTaint(item.taint, ctx.envelope.metadata?.taint);
    mark(ctx, [item.taint]);
    if (known === undefined && APPROVED.has(toLayer))
      await approvalByCaller(ctx, promotionOf(item, { toLayer, scope, taint }));
    const made = known ?? (await this.#items.promote(caller, item, { toLayer, scope, taint }));
    return { ...changed(made, `"${made.title}" holds for the layer ${toLayer}`), promotedFrom: id };
  }

  async remove({ id }: Given<typeof knowledgeRemove>, ctx: Context): Promise<Answer<typeof knowledgeRemove>> {
    await this.#items.remove(this.#caller(ctx), id);
    return { success: true, id, message: `Removed "${id}"` };
  }

  async sync(
    { source: name }: Given<typeof knowledgeSync>,
    ctx: Context,
  ): Promise<Answer<typeof knowledgeSync>> {
    const caller = this.#caller(ctx);
    requireRole(caller, 'tech-lead', 'read knowledge from its source');
    const task = taskOf(ctx);
    const state = SyncState.safeParse(task?.state).data;
    const source = this.#source(caller, name ?? state?.source ?? task?.answer);
    const done = await this.#reads(source, ctx.signal);
    try {
      const { commit, faults, ...result } = await syncKnowledge(this.#deps.store, source, {
        signal: ctx.signal,
        effect: ctx.effect,
        state,
        onBatch: (so, total) => {
          if (task !== undefined) task.state = so;
          ctx.progress(total === 0 ? 1 : so.done / total, `${so.done} of ${total} files of ${source.name}`);
        },
      });
      return { success: true, ...result, faults: [...faults], ...(commit !== undefined && { commit }) };
    } finally {
      done();
    }
  }

  /**
   * Has nobody else read the source until the returned function is called. Throws REFUSED where somebody does. A reader that was
   * cancelled is waited for: it ends soon, and whoever has cancelled it may go on at once.
   */
  async #reads(source: KnowledgeSource, signal: AbortSignal): Promise<() => void> {
    for (let other = this.#readers.get(source); other !== undefined; other = this.#readers.get(source)) {
      if (!other.signal.aborted) throw refused(`The source "${source.name}" is being read already`);
      await other.ended;
    }
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    this.#readers.set(source, { signal, ended });
    return () => {
      this.#readers.delete(source);
      resolve();
    };
  }

  /** What was superseded is accepted still, and holds no more. */
  #requireHolds({ tenant }: SkillCaller, id: string): Promise<void> {
    return this.#views.use(tenant, (view) => {
      const item = view.item(id);
      if (item !== undefined && view.statusOf(item) === 'superseded')
        throw refused(`The knowledge item "${id}" is superseded: only what is accepted is promoted`, { id });
    });
  }

  #caller(ctx: Context): SkillCaller {
    return skillCallerOf(ctx, this.#deps.roles);
  }

  /** One of another tenant is told of as one that nobody has. */
  #source({ tenant }: SkillCaller, name: unknown): KnowledgeSource {
    const own = this.#deps.sources.filter((source) => source.tenant === tenant);
    const found =
      name === undefined && own.length === 1 ? own[0] : own.find((source) => source.name === name);
    if (found !== undefined) return found;
    const names = own.map((source) => source.name);
    if (name !== undefined) throw refused(`There is no knowledge source ${JSON.stringify(name)}`, { name });
    if (names.length === 0) throw refused('There is no knowledge source');
    throw inputRequired('Which source is to be read?', { type: 'string', enum: names });
  }
}

type Described = Pick<
  KnownItem,
  'id' | 'type' | 'layer' | 'scope' | 'title' | 'status' | 'tags' | 'updatedAtMs' | 'origin'
>;

const aboutOf = ({ id, type, layer, scope, title, status, tags, updatedAtMs, origin }: Described) => ({
  id,
  type,
  layer,
  scope,
  title,
  status,
  tags: [...tags],
  updatedAt: updatedAtMs,
  ...(origin !== undefined && {
    source: {
      name: origin.source,
      path: origin.path,
      ...(origin.commit !== undefined && { commit: origin.commit }),
    },
  }),
});

/** What a file would say. */
const documentOf = (item: KnowledgeItem) => ({
  id: item.id,
  type: item.type,
  title: item.title,
  status: item.status,
  layer: item.layer,
  scope: item.scope,
  tags: item.tags,
  summary: item.summary,
  severity: item.severity,
  supersedes: item.supersedes,
  supersededBy: item.supersededBy,
  constraints: item.constraints,
  metadata: item.metadata,
  content: item.content,
});

const changed = ({ id, status, layer, scope }: KnowledgeItem, message: string) => ({
  success: true as const,
  id,
  status,
  layer,
  scope,
  message,
});

/** What the owner of the task has answered, if that can be checked. Throws what asks for it. */
function saidOf(ctx: Context): CheckedProject {
  const { data } = CheckedProject.safeParse(taskOf(ctx)?.answer);
  if (data !== undefined && isAnythingKnown(data)) return data;
  throw inputRequired(
    'What is to be checked? Files, dependencies, imports, or the configuration',
    CheckedProject,
  );
}

function promotionOf(
  item: KnowledgeItem,
  {
    toLayer,
    scope,
    taint,
  }: { readonly toLayer: KnowledgeLayer; readonly scope: string; readonly taint: Taint | undefined },
) {
  const { id, title, type, layer } = item;
  return {
    action: 'knowledge.promote',
    details: { id, title, type, layer, toLayer, scope, content: contentHashOf(item) },
    message: `Have the ${type} "${title}" hold for the layer ${toLayer}${scope === '' ? '' : ` (${scope})`}?`,
    ...(taint !== undefined && { taint }),
  };
}

function mark(ctx: Context, taints: readonly (Taint | undefined)[]): void {
  const all = taints.reduce(mergeTaint, undefined);
  for (const source of all ?? []) ctx.markOutside(source);
}
