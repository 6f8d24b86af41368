import { assign, setup } from 'xstate';
import type { TableDelta } from './routing-table.ts';

/** What happens to a thread's router: messages of the control thread, and the end of the system. */
export type ThreadRouterEvent =
  | { readonly type: 'table.received'; readonly delta: TableDelta }
  | { readonly type: 'delta.received'; readonly delta: TableDelta }
  /** Another thread has judged by this version. */
  | { readonly type: 'version.seen'; readonly version: number }
  /** The delta or table that it waits for is late. */
  | { readonly type: 'table.late' }
  | { readonly type: 'system.stopping' }
  | { readonly type: 'system.stopped' };

const versionOf = (event: ThreadRouterEvent): number => {
  if ('delta' in event) return event.delta.version;
  return 'version' in event ? event.version : 0;
};

/** How the router follows the table, while it takes new envelopes and while it does not. */
const FOLLOWS = {
  syncing: {
    'table.received': { target: 'ready', actions: ['takeTable', 'keepVersion'] },
    'table.late': { actions: 'askForTable' },
  },
  awaiting: {
    'delta.received': [
      { guard: 'isNextAndLast', target: 'ready', actions: ['applyDelta', 'keepVersion'] },
      { guard: 'isNext', actions: ['applyDelta', 'keepVersion'] },
      { guard: 'isGap', target: 'syncing', actions: 'askForTable' },
    ],
    'version.seen': { actions: 'awaitVersion' },
    'table.late': { target: 'syncing', actions: 'askForTable' },
  },
  ready: {
    'delta.received': [
      { guard: 'isNext', actions: ['applyDelta', 'keepVersion'] },
      { guard: 'isGap', target: 'syncing', actions: 'askForTable' },
    ],
    'version.seen': { guard: 'isAhead', target: 'awaiting', actions: ['awaitVersion', 'giveTime'] },
  },
} as const;

/**
 * The router of one thread: whether its table is whole, and whether it takes new envelopes.
 *
 * - `awaiting` another thread has a newer version: the delta is under way.
 * - `syncing`  a delta did not follow the version that is here, so others were lost. The whole table is asked for. Until it comes
 *              no delta is applied, because the table has them all.
 * - `draining` still follows the table, because envelopes under way are still routed.
 *
 * An event that a state does not list changes nothing.
 */
export const threadRouterMachine = setup({
  types: {
    context: {} as { readonly version: number; readonly awaited: number },
    events: {} as ThreadRouterEvent,
    tags: {} as 'open' | 'behind',
  },
  guards: {
    isNext: ({ context, event }) => versionOf(event) === context.version + 1,
    isGap: ({ context, event }) => versionOf(event) > context.version + 1,
    isNextAndLast: ({ context, event }) =>
      versionOf(event) === context.version + 1 && versionOf(event) >= context.awaited,
    isAhead: ({ context, event }) => versionOf(event) > context.version,
  },
  actions: {
    takeTable: () => undefined,
    applyDelta: () => undefined,
    askForTable: () => undefined,
    giveTime: () => undefined,
    keepVersion: assign({ version: ({ event }) => versionOf(event) }),
    awaitVersion: assign({ awaited: ({ context, event }) => Math.max(context.awaited, versionOf(event)) }),
  },
}).createMachine({
  id: 'threadRouter',
  context: { version: 0, awaited: 0 },
  initial: 'syncing',
  states: {
    syncing: {
      tags: ['open', 'behind'],
      on: { ...FOLLOWS.syncing, 'system.stopping': 'draining.syncing', 'system.stopped': 'stopped' },
    },
    awaiting: {
      tags: ['open', 'behind'],
      on: { ...FOLLOWS.awaiting, 'system.stopping': 'draining.awaiting', 'system.stopped': 'stopped' },
    },
    ready: {
      tags: 'open',
      on: { ...FOLLOWS.ready, 'system.stopping': 'draining', 'system.stopped': 'stopped' },
    },
    draining: {
      initial: 'ready',
      states: {
        syncing: { tags: 'behind', on: FOLLOWS.syncing },
        awaiting: { tags: 'behind', on: FOLLOWS.awaiting },
        ready: { on: FOLLOWS.ready },
      },
      on: { 'system.stopped': 'stopped' },
    },
    stopped: { type: 'final' },
  },
});
