import type { AgentDesk, ActorContext } from '../../runtime/public.ts';
import type { NegotiationMedium } from './negotiation-medium.ts';

/**
 * The medium of an agent in a running system, whose attendant brings what comes in. A cause's `origin` is a context.
 *
 * `isStarting` says whether agents are still to come: what is for one that is not there yet counts as lost.
 */
export const deskMedium = (desk: AgentDesk, isStarting: () => boolean = () => false): NegotiationMedium => ({
  get capabilities() {
    return desk.capabilities;
  },
  get mailbox() {
    return desk.mailbox;
  },
  get taint() {
    return desk.taint;
  },
  takeIn: (taint, cause) => desk.takeIn(taint, cause?.origin as ActorContext<unknown> | undefined),
  whoOffers: (capabilities) => desk.whoOffers(capabilities),
  judge: (message) => desk.judge(message),
  send: async (message, cause) => {
    const sent = desk.send(message, cause?.origin as ActorContext<unknown> | undefined);
    return sent.errorCode === 'AGENT_NOT_FOUND' && isStarting() ? { ...sent, errorCode: 'NOT_HERE' } : sent;
  },
  listen: () => () => undefined,
  holdGrant: (envelopeId, peer, untilMs) => desk.holdGrant(envelopeId, peer, untilMs),
  delegates: ({ origin }) => desk.delegationOf(origin as ActorContext<unknown>),
  delegatesAgain: (record) => desk.delegationAgain(record),
  behalfOf: (cause) => desk.behalfOf(cause?.origin as ActorContext<unknown> | undefined),
  endGrant: (envelopeId, peer) => desk.endGrant(envelopeId, peer),
});

/** The medium of the embedder, whose mailbox is made when it first proposes. */
export function hostMedium(openDesk: () => Promise<AgentDesk>): NegotiationMedium {
  let medium: NegotiationMedium | undefined;
  const opened = (): NegotiationMedium => medium as NegotiationMedium;
  return {
    capabilities: [],
    mailbox: { waiting: 0, capacity: 0 },
    get taint() {
      return medium?.taint;
    },
    open: async () => {
      medium ??= deskMedium(await openDesk());
    },
    whoOffers: (capabilities) => opened().whoOffers(capabilities),
    judge: (message) => opened().judge(message),
    send: (message, cause) => opened().send(message, cause),
    listen: () => () => undefined,
    endGrant: (envelopeId, peer) => opened().endGrant(envelopeId, peer),
  };
}
