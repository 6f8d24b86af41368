import { setup } from 'xstate';
import { READINESS, type Readiness } from '../routing/agent-status-memory.ts';

/** What happens to a node elsewhere, and why. */
export interface PeerLifeEvent {
  readonly type: /** A session carries requests to it. */
    | 'session.used'
    /** Its channel has lost its connection, and looks for another. */
    | 'session.broken'
    | 'session.over'
    /** It was awaited long enough. */
    | 'patience.over'
    /** Its owner here trusts its key no more. */
    | 'peer.revoked';
  readonly reason?: string;
}

/**
 * The life of another node as this one sees it. Requests wait while it is awaited or rejoining, and fail while it is lost. A lost
 * node may come back; one that was revoked may not.
 */
export const peerMachine = setup({
  types: { events: {} as PeerLifeEvent },
  actions: {
    /** Says that the status is another one. */
    tellStatus: () => undefined,
    /** Begins to wait for a session, for a bounded time. */
    await: () => undefined,
    /** Ends that wait. */
    stopWaiting: () => undefined,
    /** Fails what waits for a session. */
    giveUp: () => undefined,
    /** Ends every session, and takes its agents out of the team. */
    cut: () => undefined,
  },
}).createMachine({
  id: 'peer',
  initial: 'awaited',
  on: { 'peer.revoked': '.revoked' },
  states: {
    awaited: {
      entry: ['tellStatus', 'await'],
      exit: 'stopWaiting',
      on: { 'session.used': 'up', 'patience.over': 'lost' },
    },
    up: { entry: 'tellStatus', on: { 'session.broken': 'rejoining', 'session.over': 'rejoining' } },
    rejoining: {
      entry: ['tellStatus', 'await'],
      exit: 'stopWaiting',
      on: { 'session.used': 'up', 'patience.over': 'lost' },
    },
    lost: { entry: ['tellStatus', 'giveUp'], on: { 'session.used': 'up' } },
    revoked: { entry: ['tellStatus', 'cut'], type: 'final' },
  },
});

export type PeerStatus = 'awaited' | 'up' | 'rejoining' | 'lost' | 'revoked';

/** How soon agents of a node with this status can take mail. */
export const REACH: Readonly<Record<PeerStatus, Readiness>> = {
  awaited: READINESS.awaited,
  up: READINESS.live,
  rejoining: READINESS.awaited,
  lost: READINESS.ended,
  revoked: READINESS.ended,
};
