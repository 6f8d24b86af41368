import type { AgentClient, ActorContext } from '../../runtime/public.ts';
import type { NegotiationMedium } from './negotiation-medium.ts';

/**
 * The medium of an agent in a running system, whose attendant brings what comes in. A cause's `origin` is a context.
 *
 * `isStarting` says whether agents are still to come: what is for one that is not there yet counts as lost.
 */
export const clientMedium = (
  client: AgentClient,
  isStarting: () => boolean = () => false,
): NegotiationMedium => ({
  get capabilities() {
    return client.capabilities;
  },
  get mailbox() {
    return client.mailbox;
  },
  get taint() {
    return client.taint;
  },
  takeIn: (taint, cause) => client.takeIn(taint, cause?.origin as ActorContext<unknown> | undefined),
  whoOffers: (capabilities) => client.whoOffers(capabilities),
  judge: (message) => client.judge(message),
  send: async (message, cause) => {
    const sent = client.send(message, cause?.origin as ActorContext<unknown> | undefined);
    return sent.errorCode === 'AGENT_NOT_FOUND' && isStarting() ? { ...sent, errorCode: 'NOT_HERE' } : sent;
  },
  listen: () => () => undefined,
  holdGrant: (envelopeId, peer, untilMs) => client.holdGrant(envelopeId, peer, untilMs),
  delegates: ({ origin }) => client.delegationOf(origin as ActorContext<unknown>),
  delegatesAgain: (record) => client.delegationAgain(record),
  behalfOf: (cause) => client.behalfOf(cause?.origin as ActorContext<unknown> | undefined),
  endGrant: (envelopeId, peer) => client.endGrant(envelopeId, peer),
});

/** The medium of the embedder, whose mailbox is made when it first proposes. */
export function hostMedium(openClient: () => Promise<AgentClient>): NegotiationMedium {
  let medium: NegotiationMedium | undefined;
  const opened = (): NegotiationMedium => medium as NegotiationMedium;
  return {
    capabilities: [],
    mailbox: { waiting: 0, capacity: 0 },
    get taint() {
      return medium?.taint;
    },
    open: async () => {
      medium ??= clientMedium(await openClient());
    },
    whoOffers: (capabilities) => opened().whoOffers(capabilities),
    judge: (message) => opened().judge(message),
    send: (message, cause) => opened().send(message, cause),
    listen: () => () => undefined,
    endGrant: (envelopeId, peer) => opened().endGrant(envelopeId, peer),
  };
}
