import { setup } from 'xstate';

/** What happens to one end of a channel, and why. */
export interface ChannelLifeEvent {
  readonly type: /** The other end has answered the hello, or the welcome. */
    | 'peer.acknowledged'
    | 'peer.refused'
    | 'peer.closed'
    | 'connection.lost'
    /** The channel was not open in time, for the first time or again. */
    | 'deadline.passed'
    | 'channel.close';
  readonly reason?: string;
}

/** Events that close any open channel. */
const whileThere = { 'channel.close': 'closed', 'peer.closed': 'closed' } as const;

/** Transitions of a channel without a connection. */
const whileApart = {
  ...whileThere,
  'peer.acknowledged': 'open',
  'peer.refused': 'closed',
  'deadline.passed': 'closed',
  'connection.lost': { actions: 'dialAgain' },
} as const;

/**
 * The life of one end of a channel (seed 1, property 10).
 *
 * The end that opened it dials, the other one waits to be dialled. What a state does not list is refused by whoever runs
 * the machine: `ChannelCourse`.
 */
export const channelMachine = setup({
  types: {
    events: {} as ChannelLifeEvent,
  },
  actions: {
    /** Says that the status is another one. */
    tellStatus: () => undefined,
    /** Sets the deadline for being open, and dials. */
    dial: () => undefined,
    /** Dials another time within the same deadline. */
    dialAgain: () => undefined,
    /** Sends what the other end has not acknowledged, and what waits. */
    resume: () => undefined,
    /** Frees timers, listeners and buffers, and tells those who wait. */
    release: () => undefined,
  },
}).createMachine({
  id: 'channel',
  initial: 'connecting',
  states: {
    connecting: { entry: ['tellStatus', 'dial'], on: whileApart },
    open: { entry: ['tellStatus', 'resume'], on: { ...whileThere, 'connection.lost': 'reconnecting' } },
    reconnecting: { entry: ['tellStatus', 'dial'], on: whileApart },
    closed: { entry: ['tellStatus', 'release'], type: 'final' },
  },
});
