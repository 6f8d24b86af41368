import { notPermitted } from '../../../runtime/protocol/edge-errors.ts';
import type { SkillCaller } from '../skill-caller.ts';
import { isShared, layerOf, type MemoryLayer, rankOf, writerOf } from './memory-layer.ts';
import { mayAs, requireRole } from '../role.ts';

/**
 * Whose a memory is.
 *
 * - `layer` 1, an agent's, to 7, the company's.
 * - `owner` the principal that alone sees it; '' for what is of all.
 * - `scope` which agent, session, project, team or organisation.
 */
export interface Ownership {
  readonly layer: number;
  readonly owner: string;
  readonly scope: string;
}

/** Whose a memory becomes that a caller adds to a layer. Throws NOT_PERMITTED. */
export function ownershipFor(caller: SkillCaller, layer: MemoryLayer, scope: string): Ownership {
  requireRole(caller, writerOf(layer), `write memories of the layer ${layer}`);
  const rank = rankOf(layer);
  const its = { layer: rank, owner: isShared(rank) ? '' : caller.principalId, scope };
  // It would learn whether the other has such a text, and tell it what to remember.
  if (!maySee(caller, its))
    throw notPermitted(`The agent ${caller.agentId} writes nothing into what is of another: "${scope}"`, {
      layer,
      scope,
    });
  return its;
}

/** An agent sees of the layer of agents what is its own; a caller outside, what is of any agent that works for it. */
export function maySee({ principalId, agentId }: SkillCaller, { layer, owner, scope }: Ownership): boolean {
  if (isShared(layer)) return true;
  if (owner !== principalId) return false;
  return layerOf(layer) !== 'agent' || agentId === undefined || agentId === scope;
}

/** Throws NOT_PERMITTED for a caller who may see it, and not write in its layer. */
export function requireChanger(caller: SkillCaller, { layer }: Ownership, deed: 'change' | 'remove'): void {
  const name = layerOf(layer);
  requireRole(caller, writerOf(name), `${deed} memories of the layer ${name}`);
}

/** Whether two are of the same layer, and there of the same. */
export const isSamePlace = (one: Ownership, other: Ownership): boolean =>
  one.layer === other.layer && one.owner === other.owner && one.scope === other.scope;

/** Whoever may see it and may write in its layer may change it and remove it. */
export const mayChange = (caller: SkillCaller, its: Ownership): boolean =>
  maySee(caller, its) && mayAs(caller.role, writerOf(layerOf(its.layer)));
