import { notSerialisable } from '../../runtime/protocol/errors.ts';
import { findUnserialisable } from '../../runtime/protocol/json-safety.ts';
import type { Seams } from '../../runtime/protocol/seams.ts';
import type { AgentClient, Outgoing } from '../../runtime/public.ts';
import { type SwarmLetter, type SwarmMedium, unsent } from './swarm-medium.ts';

/** The medium of an agent in a running system, whose interceptor brings what comes in. */
export const deskMedium = (desk: AgentClient): SwarmMedium => ({
  agentId: desk.agentId,
  seams: desk.seams,
  get isTold() {
    return desk.handles('notification');
  },
  get taint() {
    return desk.taint;
  },
  whoOffers: (capabilityId) => desk.whoOffers([capabilityId]),
  loadOf: (agentId) => desk.loadOf(agentId),
  judge: (letter) => desk.judge(outgoingOf(letter)),
  send: async (letter, onMade) => {
    try {
      // What JSON cannot carry would be found on its way to another thread, where nobody waits for it.
      const lost = findUnserialisable(letter.payload, 'payload');
      if (lost !== undefined) throw notSerialisable(lost.path, lost.kind);
      const sent = desk.send(outgoingOf(letter));
      onMade?.(sent.envelopeId);
      return sent;
    } catch (error) {
      return unsent(letter, error);
    }
  },
  note: ({ agentId, isGood, ...event }) =>
    desk.note({
      type: 'swarm',
      agentId: desk.agentId,
      success: isGood,
      ...event,
      ...(agentId === undefined ? {} : { targetAgentId: agentId }),
    }),
  listen: () => () => undefined,
});

/** Assignments do not go this way: agents are asked. */
const outgoingOf = ({ capability: _capability, metadata: _metadata, ...message }: SwarmLetter): Outgoing =>
  message;

/** The medium of the embedder, whose mailbox is made when it is first needed. */
export function hostMedium(
  openDesk: () => Promise<AgentClient>,
  { agentId, seams }: { readonly agentId: string; readonly seams: Seams },
): SwarmMedium {
  let medium: SwarmMedium | undefined;
  const opened = (): SwarmMedium => medium as SwarmMedium;
  return {
    agentId,
    seams,
    get isTold() {
      return medium?.isTold ?? false;
    },
    get taint() {
      return medium?.taint;
    },
    open: async () => {
      medium ??= deskMedium(await openDesk());
    },
    whoOffers: (capabilityId) => opened().whoOffers(capabilityId),
    loadOf: (agentId) => opened().loadOf?.(agentId) ?? 0,
    judge: (letter) => opened().judge(letter),
    send: (letter, onMade) => opened().send(letter, onMade),
    note: (event) => opened().note?.(event),
    listen: () => () => undefined,
  };
}
