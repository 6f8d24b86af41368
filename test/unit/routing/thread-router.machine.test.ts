import { describe, expect, it } from 'vitest';
import { type AnyStateNode, createActor } from 'xstate';
import { NO_CHANGE } from '../../../runtime/routing/routing-table.ts';
import {
  type ThreadRouterEvent,
  threadRouterMachine,
} from '../../../runtime/routing/thread-router.machine.ts';

const delta = (version: number): ThreadRouterEvent => ({
  type: 'delta.received',
  delta: { version, ...NO_CHANGE },
});
const table = (version: number): ThreadRouterEvent => ({
  type: 'table.received',
  delta: { version, ...NO_CHANGE },
});
const seen = (version: number): ThreadRouterEvent => ({ type: 'version.seen', version });
const late: ThreadRouterEvent = { type: 'table.late' };
const stopping: ThreadRouterEvent = { type: 'system.stopping' };
const stopped: ThreadRouterEvent = { type: 'system.stopped' };

/** Every event, as it is to a router that has version 3, and a late report of what it has. */
const EVENTS = {
  table: table(7),
  next: delta(4),
  gap: delta(6),
  known: delta(3),
  ahead: seen(5),
  level: seen(3),
  late,
  stopping,
  stopped,
} as const;

/** A way into every state, with version 3 where a table is there. */
const WAYS: Record<string, readonly ThreadRouterEvent[]> = {
  syncing: [table(3), delta(5)],
  ready: [table(3)],
  awaiting: [table(3), seen(5)],
  'awaiting the next': [table(3), seen(4)],
  'draining.ready': [table(3), stopping],
  'draining.syncing': [table(3), stopping, delta(5)],
  'draining.awaiting': [table(3), stopping, seen(5)],
  'draining.awaiting the next': [table(3), stopping, seen(4)],
  stopped: [table(3), stopped],
};

type Step = readonly [state: string, version: number, ...actions: string[]];

/** What every event does in every state; what is not named here changes nothing. */
const STEPS: Record<string, Partial<Record<keyof typeof EVENTS, Step>>> = {
  syncing: {
    table: ['ready', 7, 'takeTable'],
    late: ['syncing', 3, 'askForTable'],
    stopping: ['draining.syncing', 3],
    stopped: ['stopped', 3],
  },
  ready: {
    next: ['ready', 4, 'applyDelta'],
    gap: ['syncing', 3, 'askForTable'],
    ahead: ['awaiting', 3, 'giveTime'],
    stopping: ['draining.ready', 3],
    stopped: ['stopped', 3],
  },
  awaiting: {
    next: ['awaiting', 4, 'applyDelta'],
    gap: ['syncing', 3, 'askForTable'],
    late: ['syncing', 3, 'askForTable'],
    stopping: ['draining.awaiting', 3],
    stopped: ['stopped', 3],
  },
  'awaiting the next': {
    next: ['ready', 4, 'applyDelta'],
    gap: ['syncing', 3, 'askForTable'],
    late: ['syncing', 3, 'askForTable'],
    stopping: ['draining.awaiting', 3],
    stopped: ['stopped', 3],
  },
  'draining.ready': {
    next: ['draining.ready', 4, 'applyDelta'],
    gap: ['draining.syncing', 3, 'askForTable'],
    ahead: ['draining.awaiting', 3, 'giveTime'],
    stopped: ['stopped', 3],
  },
  'draining.awaiting': {
    next: ['draining.awaiting', 4, 'applyDelta'],
    gap: ['draining.syncing', 3, 'askForTable'],
    late: ['draining.syncing', 3, 'askForTable'],
    stopped: ['stopped', 3],
  },
  'draining.awaiting the next': {
    next: ['draining.ready', 4, 'applyDelta'],
    gap: ['draining.syncing', 3, 'askForTable'],
    late: ['draining.syncing', 3, 'askForTable'],
    stopped: ['stopped', 3],
  },
  'draining.syncing': {
    table: ['draining.ready', 7, 'takeTable'],
    late: ['draining.syncing', 3, 'askForTable'],
    stopped: ['stopped', 3],
  },
  stopped: {},
};

const TAGS: Record<string, readonly string[]> = {
  syncing: ['behind', 'open'],
  ready: ['open'],
  awaiting: ['behind', 'open'],
  'awaiting the next': ['behind', 'open'],
  'draining.ready': [],
  'draining.syncing': ['behind'],
  'draining.awaiting': ['behind'],
  'draining.awaiting the next': ['behind'],
  stopped: [],
};

function run(events: readonly ThreadRouterEvent[]) {
  const done: string[] = [];
  const note = (name: string) => () => void done.push(name);
  const actor = createActor(
    threadRouterMachine.provide({
      actions: {
        takeTable: note('takeTable'),
        applyDelta: note('applyDelta'),
        askForTable: note('askForTable'),
        giveTime: note('giveTime'),
      },
    }),
  ).start();
  const send = (event: ThreadRouterEvent): void => {
    // A machine at its end takes no event, and XState says so on the console.
    if (actor.getSnapshot().status === 'active') actor.send(event);
  };
  for (const event of events) send(event);
  done.length = 0;
  const state = (): string => {
    const { value } = actor.getSnapshot();
    return typeof value === 'string' ? value : `draining.${value.draining}`;
  };
  return { actor, send, state, done };
}

/** The state that a way leads to: some have several ways. */
const stateOf = (way: string): string => way.replace(' the next', '');

const leavesOf = (node: AnyStateNode): string[] =>
  Object.keys(node.states).length === 0
    ? [node.path.join('.')]
    : Object.values(node.states).flatMap((child) => leavesOf(child as AnyStateNode));

describe('threadRouterMachine', () => {
  it('begins by syncing, with no version', () => {
    const { actor, state } = run([]);
    expect([state(), actor.getSnapshot().context.version]).toEqual(['syncing', 0]);
  });

  it('has no state and no event but those walked here', () => {
    expect(leavesOf(threadRouterMachine.root as unknown as AnyStateNode).sort()).toEqual(
      [...new Set(Object.keys(WAYS).map(stateOf))].sort(),
    );
    expect([...threadRouterMachine.events].sort()).toEqual(
      [...new Set(Object.values(EVENTS).map(({ type }) => type))].sort(),
    );
  });

  it.each(Object.keys(WAYS))('is open or behind as %s says', (from) => {
    const { actor, state } = run(WAYS[from] ?? []);
    expect(state()).toBe(stateOf(from));
    expect([...actor.getSnapshot().tags].sort()).toEqual(TAGS[from]);
  });

  describe.each(Object.keys(WAYS))('in %s', (from) => {
    it.each(Object.keys(EVENTS) as (keyof typeof EVENTS)[])('goes the way of %s', (name) => {
      const { actor, send, state, done } = run(WAYS[from] ?? []);
      send(EVENTS[name]);
      const step = STEPS[from]?.[name] ?? [stateOf(from), 3];
      expect([state(), actor.getSnapshot().context.version, ...done]).toEqual(step);
    });
  });

  it('goes on from the table that came, not from the deltas that it passed over', () => {
    const { send, state, done } = run([table(3), delta(5), delta(6), delta(7)]);
    send(table(7));
    send(delta(8));
    expect([state(), ...done]).toEqual(['ready', 'takeTable', 'applyDelta']);
  });
});
