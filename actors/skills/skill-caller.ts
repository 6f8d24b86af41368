import { unauthenticated } from '../../runtime/protocol/edge-errors.ts';
import { isSystemId } from '../../runtime/protocol/policy.ts';
import { ANONYMOUS } from '../../runtime/protocol/principal.ts';
import type { HandlingContext } from '../../runtime/public.ts';
import { type Role, type RoleNames, roleOf } from './role.ts';

/** The tenant of a team's own work, and of callers whose credentials name none. No credentials can name it. */
const NO_TENANT = '';
/** Who the team is when nobody outside wanted the work. No principal has this id. */
const TEAM = '';

/**
 * For whom a skill works.
 *
 * - `tenant`      whose data it is: the only one that it sees.
 * - `principalId` whose private entries it sees.
 * - `agentId`     of the agent of this team that asks; undefined where a caller outside asks itself.
 */
export interface SkillCaller {
  readonly tenant: string;
  readonly principalId: string;
  readonly role: Role;
  readonly agentId: string | undefined;
}

/**
 * The caller of the work in hand, by what the runtime says of the envelope: nothing of it is believed of the input. Work that nobody
 * outside wanted is the team's own, which may do everything. Throws UNAUTHENTICATED for callers that have proved nothing.
 */
export function skillCallerOf(
  { requester, envelope }: Pick<HandlingContext, 'requester' | 'envelope'>,
  roles: RoleNames | undefined,
): SkillCaller {
  const { sender } = envelope;
  const agentId = isSystemId(sender) ? undefined : sender;
  if (requester === undefined) return { tenant: NO_TENANT, principalId: TEAM, role: 'admin', agentId };
  const { principalId, tenant = NO_TENANT } = requester;
  if (principalId === ANONYMOUS.id)
    throw unauthenticated('the skills are for callers who have proved who they are');
  return { tenant, principalId, role: roleOf(requester.roles, roles), agentId };
}
