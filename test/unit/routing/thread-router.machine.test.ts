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
const late: ThreadRouterEvent = { type: 'table.late' };
const stopping: ThreadRouterEvent = { type: 'system.stopping' };
const stopped: ThreadRouterEvent = { type: 'system.stopped' };

/** Every event, as it is to a router that has version 3, and a late report of what it has. */
const EVENTS = {
  table: table(7),
  next: delta(4),
  gap: delta(6),
  known: delta(3),
  late,
  stopping,
  stopped,
} as const;

/** A way into every state, with version 3 where a table is there. */
const WAYS: Record<string, readonly ThreadRouterEvent[]> = {
  syncing: [table(3), delta(5)],
  ready: [table(3)],
  'draining.ready': [table(3), stopping],
  'draining.syncing': [table(3), stopping, delta(5)],
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
    stopping: ['draining.ready', 3],
    stopped: ['stopped', 3],
  },
  'draining.ready': {
    next: ['draining.ready', 4, 'applyDelta'],
    gap: ['draining.syncing', 3, 'askForTable'],
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
  'draining.ready': [],
  'draining.syncing': ['behind'],
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
      Object.keys(WAYS).sort(),
    );
    expect([...threadRouterMachine.events].sort()).toEqual(
      [...new Set(Object.values(EVENTS).map(({ type }) => type))].sort(),
    );
  });

  it.each(Object.keys(WAYS))('is open or behind as %s says', (from) => {
    const { actor, state } = run(WAYS[from] ?? []);
    expect(state()).toBe(from);
    expect([...actor.getSnapshot().tags].sort()).toEqual(TAGS[from]);
  });

  describe.each(Object.keys(WAYS))('in %s', (from) => {
    it.each(Object.keys(EVENTS) as (keyof typeof EVENTS)[])('goes the way of %s', (name) => {
      const { actor, send, state, done } = run(WAYS[from] ?? []);
      send(EVENTS[name]);
      const step = STEPS[from]?.[name] ?? [from, 3];
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
