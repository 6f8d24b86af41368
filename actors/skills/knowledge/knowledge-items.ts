import { hashOf } from '../../../runtime/protocol/approval.ts';
import { invalidPayload, type OrreryError, reasonOf, refused } from '../../../runtime/protocol/errors.ts';
import { mergeTaint, type Taint } from '../../../runtime/protocol/taint.ts';
import { requireRole, WRITER_OF_LAYER } from '../role.ts';
import { compileRule } from '../rules/compile-rule.ts';
import type { SkillCaller } from '../skill-caller.ts';
import type { SkillStore, TenantQueries } from '../store/skill-store.ts';
import { rulesOf } from './constraint.ts';
import type { KnowledgeDocument } from './knowledge-document.ts';
import { itemOf, type KnowledgeItem } from './knowledge-item.ts';
import { knowledgeRankOf, type KnowledgeLayer } from './knowledge-layer.ts';
import { findItem, KnowledgeRows } from './knowledge-rows.ts';
import { isDecision, type KnowledgeStatus, NEXT_STATUS } from './knowledge-status.ts';

/** Where an item is to hold. - `scope` '' none in particular. */
export interface Promotion {
  readonly toLayer: KnowledgeLayer;
  readonly scope: string;
}

/** What an item said before, the newest first. */
export interface KnowledgeVersion {
  readonly version: number;
  readonly status: KnowledgeStatus;
  readonly title: string;
  readonly content: string;
  readonly author: string | undefined;
  readonly taint: Taint | undefined;
  readonly commit: string | undefined;
  readonly updatedAtMs: number;
}

export interface KnowledgeItemsDeps {
  readonly store: SkillStore;
  readonly now: () => number;
  readonly newId: () => string;
}

const MOST_VERSIONS = 50;

/**
 * The items of knowledge that callers say, decide on, and take back. What is in a file of a source is changed there alone.
 *
 * Fails with NOT_PERMITTED for callers whose role is too low, with REFUSED where there is no such item or it is not in the state for
 * it, and with QUOTA_EXCEEDED.
 */
export class KnowledgeItems {
  readonly #deps: KnowledgeItemsDeps;

  constructor(deps: KnowledgeItemsDeps) {
    this.#deps = deps;
  }

  async find({ tenant }: SkillCaller, id: string): Promise<KnowledgeItem> {
    const found = await this.#deps.store.read(tenant, (queries) => findItem(queries, id));
    if (found === undefined) throw noSuchItem(id);
    return found;
  }

  /** What an item said before it was changed: its last versions. */
  async versions({ tenant }: SkillCaller, id: string): Promise<KnowledgeVersion[]> {
    const rows = await this.#deps.store.read(tenant, (queries) =>
      queries
        .selectFrom('knowledge_versions')
        .selectAll()
        .where('id', '=', id)
        .orderBy('version', 'desc')
        .limit(MOST_VERSIONS)
        .execute(),
    );
    return rows.map((row) => ({
      version: row.version,
      status: row.status as KnowledgeStatus,
      title: row.title,
      content: row.content,
      author: row.author ?? undefined,
      taint: row.taint === null ? undefined : (JSON.parse(row.taint) as Taint),
      commit: row.commit_hash ?? undefined,
      updatedAtMs: row.updated_at,
    }));
  }

  /** Keeps what a caller says. An accepted item takes the role of its layer; others that of a developer. */
  async add(caller: SkillCaller, said: KnowledgeDocument, taint: Taint | undefined): Promise<KnowledgeItem> {
    const { layer = 'project', scope = '' } = said;
    requireRole(
      caller,
      isDecision('draft', said.status) ? WRITER_OF_LAYER[layer] : 'developer',
      `add ${said.status} knowledge of the layer ${layer}`,
    );
    const now = this.#deps.now();
    const item: KnowledgeItem = {
      ...said,
      id: this.#deps.newId(),
      layer,
      scope,
      author: caller.principalId,
      taint,
      promotedFrom: undefined,
      origin: undefined,
      createdAtMs: now,
      updatedAtMs: now,
      version: 1,
    };
    requireRules(item);
    await this.#change(caller, async (rows) => {
      const superseded = await rows.findAll(item.supersedes);
      for (const id of item.supersedes) requireSupersedes(item, superseded.get(id), id);
      await rows.insert([item]);
    });
    return item;
  }

  /** Changes how far an item has come, as `NEXT_STATUS` allows. */
  async setStatus(caller: SkillCaller, id: string, status: KnowledgeStatus): Promise<KnowledgeItem> {
    return this.#change(caller, async (rows) => {
      const was = await rows.find(id);
      if (was === undefined) throw noSuchItem(id);
      const isDecided = isDecision(was.status, status);
      requireRole(
        caller,
        isDecided ? WRITER_OF_LAYER[was.layer] : 'developer',
        `make knowledge of the layer ${was.layer} ${status}`,
      );
      requireOwn(was);
      const next = NEXT_STATUS[was.status];
      if (!next.includes(status))
        throw refused(
          `The knowledge item "${id}" is ${was.status}: ${next.length === 0 ? 'that stays' : `it can become ${next.join(', ')}`}, not ${status}`,
          { id, status: was.status, next },
        );
      const item = { ...was, status, updatedAtMs: this.#deps.now(), version: was.version + 1 };
      await rows.replace(was, item);
      return item;
    });
  }

  /** The item, if this caller can promote it so: what is to be approved. `made` is there if that was done before. */
  promotable(
    caller: SkillCaller,
    id: string,
    promotion: Promotion,
  ): Promise<{ readonly item: KnowledgeItem; readonly made: KnowledgeItem | undefined }> {
    return this.#deps.store.read(caller.tenant, async (queries) => {
      const item = await findItem(queries, id);
      if (item === undefined) throw noSuchItem(id);
      requirePromotable(caller, item, promotion);
      return { item, made: await findPromoted(queries, id, promotion) };
    });
  }

  /**
   * Makes an item of a wider layer that says the same; the other one stays. Where there is one already, returns that. `approved` is
   * what was looked at: of an item that says something else by now nothing is made.
   */
  async promote(
    caller: SkillCaller,
    approved: KnowledgeItem,
    { toLayer, scope, taint }: Promotion & { readonly taint: Taint | undefined },
  ): Promise<KnowledgeItem> {
    const { id } = approved;
    return this.#change(caller, async (rows, queries) => {
      const from = await rows.find(id);
      if (from === undefined) throw noSuchItem(id);
      requirePromotable(caller, from, { toLayer, scope });
      if (contentHashOf(from) !== contentHashOf(approved))
        throw refused(`The knowledge item "${id}" was changed meanwhile`, { id });
      const known = await findPromoted(queries, id, { toLayer, scope });
      if (known !== undefined) return known;
      const now = this.#deps.now();
      const item: KnowledgeItem = {
        ...from,
        id: this.#deps.newId(),
        layer: toLayer,
        scope,
        author: caller.principalId,
        taint: mergeTaint(from.taint, taint),
        supersedes: [],
        supersededBy: undefined,
        promotedFrom: id,
        origin: undefined,
        createdAtMs: now,
        updatedAtMs: now,
        version: 1,
      };
      await rows.insert([item]);
      return item;
    });
  }

  /** Removes an item and what is known of it. An author's own draft takes no more than a developer. */
  async remove(caller: SkillCaller, id: string): Promise<void> {
    await this.#change(caller, async (rows) => {
      const was = await rows.find(id);
      if (was === undefined) throw noSuchItem(id);
      const isOwnDraft = was.status === 'draft' && was.author === caller.principalId;
      requireRole(
        caller,
        isOwnDraft ? 'developer' : WRITER_OF_LAYER[was.layer],
        `remove knowledge of the layer ${was.layer}`,
      );
      requireOwn(was);
      await rows.remove([id]);
    });
  }

  #change<Result>(
    { tenant }: SkillCaller,
    run: (rows: KnowledgeRows, queries: TenantQueries) => Promise<Result>,
  ): Promise<Result> {
    return this.#deps.store.write(tenant, async (queries) =>
      run(await KnowledgeRows.change(queries, 1), queries),
    );
  }
}

/** A hash of all that holds by an item. */
export const contentHashOf = ({
  type,
  title,
  content,
  severity,
  constraints,
  metadata,
}: KnowledgeItem): string => hashOf({ type, title, content, severity, constraints, metadata });

async function findPromoted(
  queries: TenantQueries,
  id: string,
  { toLayer, scope }: Promotion,
): Promise<KnowledgeItem | undefined> {
  const made = await queries
    .selectFrom('knowledge')
    .selectAll()
    .where('promoted_from', '=', id)
    .where('layer', '=', knowledgeRankOf(toLayer))
    .where('scope', '=', scope)
    .executeTakeFirst();
  return made && itemOf(made);
}

/** One that another tenant has is told of as one that nobody has. */
export const noSuchItem = (...ids: readonly string[]): OrreryError =>
  refused(`There is no knowledge item ${ids.map((id) => JSON.stringify(id)).join(', ')}`, { ids });

function requireRules(item: KnowledgeItem): void {
  for (const [at, rule] of rulesOf(item).entries()) {
    try {
      compileRule(rule);
    } catch (error) {
      throw invalidPayload('knowledge_add', `constraints[${at}] is no rule: ${reasonOf(error)}`);
    }
  }
}

function requireSupersedes(item: KnowledgeItem, old: KnowledgeItem | undefined, id: string): void {
  if (old === undefined) throw noSuchItem(id);
  if (!maySupersede(item, old))
    throw refused(
      `The knowledge item "${id}" is of the layer ${old.layer}${old.scope === '' ? '' : ` (${old.scope})`}: an item of the layer ${item.layer}${item.scope === '' ? '' : ` (${item.scope})`} cannot supersede it`,
      { id, layer: old.layer, scope: old.scope },
    );
}

type Place = Pick<KnowledgeItem, 'layer' | 'scope'>;

/** Whether what holds in one place decides about another: a wider layer does, and the same one where it is about the same. */
export function maySupersede(item: Place, old: Place): boolean {
  const [rank, oldRank] = [knowledgeRankOf(item.layer), knowledgeRankOf(old.layer)];
  return rank > oldRank || (rank === oldRank && (item.scope === '' || item.scope === old.scope));
}

function requireOwn({ id, origin }: KnowledgeItem): void {
  if (origin !== undefined)
    throw refused(
      `The knowledge item "${id}" is in the file "${origin.path}" of the source "${origin.source}": change it there`,
      { id, source: origin.source, path: origin.path },
    );
}

function requirePromotable(caller: SkillCaller, item: KnowledgeItem, { toLayer }: Promotion): void {
  requireRole(caller, WRITER_OF_LAYER[toLayer], `promote knowledge to the layer ${toLayer}`);
  const { id, layer, status } = item;
  if (status !== 'accepted')
    throw refused(`The knowledge item "${id}" is ${status}: only what is accepted is promoted`, {
      id,
      status,
    });
  if (knowledgeRankOf(toLayer) <= knowledgeRankOf(layer))
    throw refused(
      `The knowledge item "${id}" is of the layer ${layer}: it is promoted to a wider one, not to ${toLayer}`,
      { id, layer, toLayer },
    );
}
