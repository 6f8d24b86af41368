import { setup } from 'xstate';

/** What an agent's negotiator learns. */
export type NegotiatorEvent =
  /** What a negotiator before it has left in the store is to go on. */
  | { readonly type: 'negotiator.resumes' }
  /** Those who were asked can be reached, and may never have got what was sent to them. */
  | { readonly type: 'peers.reachable' }
  /** The agent's actor has ended; another one may follow. */
  | { readonly type: 'agent.ended' }
  /** The system stops, and what goes on goes on in the next process; `why` is for whoever waits for it here. */
  | { readonly type: 'system.stops'; readonly why: Error }
  | { readonly type: 'negotiator.closes' };

/**
 * The negotiator of one agent. Its children are the proposals that are not over, each a machine of its own: the outgoing ones
 * are `proposer`s, the incoming ones `responder`s.
 */
export const negotiatorMachine = setup({
  types: {
    events: {} as NegotiatorEvent,
  },
  actions: {
    resumeProposals: () => undefined,
    proposeAgain: () => undefined,
    /** Withdraws, declines and gives back everything. */
    endProposals: () => undefined,
    /** Stops every proposal as it is. */
    leaveProposals: () => undefined,
    stopListening: () => undefined,
  },
}).createMachine({
  id: 'negotiator',
  initial: 'beginning',
  on: {
    'agent.ended': { actions: 'endProposals' },
    'system.stops': { target: '.left', actions: 'leaveProposals' },
    'negotiator.closes': { target: '.closed', actions: ['endProposals', 'stopListening'] },
  },
  states: {
    beginning: {
      on: { 'negotiator.resumes': { target: 'active', actions: 'resumeProposals' } },
    },
    active: {
      on: { 'peers.reachable': { actions: 'proposeAgain' } },
    },
    /** Its proposals go on in the next process. */
    left: {},
    closed: { type: 'final' },
  },
});
