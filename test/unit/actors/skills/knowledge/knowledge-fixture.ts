import { KnowledgeDocument } from '../../../../../actors/skills/knowledge/knowledge-document.ts';
import { KnowledgeItems } from '../../../../../actors/skills/knowledge/knowledge-items.ts';
import { KnowledgeViews } from '../../../../../actors/skills/knowledge/knowledge-views.ts';
import type { Role } from '../../../../../actors/skills/role.ts';
import type { SkillCaller } from '../../../../../actors/skills/skill-caller.ts';
import { openSqlite } from '../../../../../actors/skills/store/sqlite.ts';
import { systemClock } from '../../../../../runtime/protocol/system-seams.ts';

export const callerOf = (role: Role, tenant = 'acme', principalId = `key:${role}`): SkillCaller => ({
  tenant,
  principalId,
  role,
  agentId: undefined,
});

export const ADMIN = callerOf('admin');

/** A document with what it needs, and `fields`. */
export const documentOf = (fields: Partial<KnowledgeDocument> = {}): KnowledgeDocument =>
  KnowledgeDocument.parse({ type: 'adr', title: 'Use SQLite', status: 'accepted', ...fields });

/** The parts of the agent over a store in memory. Time goes on by a second with each item. */
export async function openKnowledge() {
  const store = await openSqlite(':memory:', systemClock);
  let ids = 0;
  let nowMs = 0;
  const seams = {
    now: () => {
      nowMs += 1_000;
      return nowMs;
    },
    newId: () => {
      ids += 1;
      return `k${ids}`;
    },
  };
  const items = new KnowledgeItems({ store, ...seams });
  return {
    store,
    seams,
    items,
    views: new KnowledgeViews(store),
    add: (fields: Partial<KnowledgeDocument> = {}, caller = ADMIN) =>
      items.add(caller, documentOf(fields), undefined),
  };
}

export type OpenKnowledge = Awaited<ReturnType<typeof openKnowledge>>;
