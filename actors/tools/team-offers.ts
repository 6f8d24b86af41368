import { duplicateTool } from '../../runtime/protocol/tool-errors.ts';
import type { AgentClient, SeenTeam } from '../../runtime/public.ts';
import { listenerFault } from './listener-fault.ts';
import { OfferIndex } from './offer-index.ts';

type Note = AgentClient['note'];

/** The offers of a team. Two offers of one name are reported as an event. */
export const teamOffers = (team: SeenTeam, note: Note): OfferIndex =>
  new OfferIndex({
    team,
    onDuplicate: ({ name, agentId, ownerId }) => {
      const { code, message } = duplicateTool(name, ownerId);
      const reason = `${message}; that of ${agentId} is not listed`;
      note({ type: 'error', agentId, errorCode: code, reason, success: false });
    },
    onFault: listenerFault(note),
  });
