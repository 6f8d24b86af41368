import { LANE, type Lane } from '../mailbox/lane.ts';
import type { Mail } from '../mailbox/mail.ts';
import type { PathHop } from '../protocol/envelope.ts';
import { HOST_ID, LOOP_ID } from '../protocol/policy.ts';
import type { AgentRow } from '../protocol/agent-row.ts';
import type { Identity } from './identity.ts';

/**
 * Call-backs have a lane of their own, so that an agent that waits can answer those it waits for. All of one channel goes in
 * one lane, or its order would be lost.
 */
export function laneFor(from: Identity, row: AgentRow, mail: Mail): Lane {
  if (mail.path !== undefined && mail.extras?.channel === undefined && isOnPath(mail.path, row.id))
    return LANE.callback;
  return from.party.isSystem && from.id !== HOST_ID && from.id !== LOOP_ID ? LANE.system : LANE.user;
}

function isOnPath(path: readonly PathHop[], agentId: string): boolean {
  for (const hop of path) if (hop.agent === agentId) return true;
  return false;
}
