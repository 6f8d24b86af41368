import type { WatchedEvent } from '@orrery/visualiser/model';
import { drawingOf } from 'orrery/machines';
import { describe, expect, it } from 'vitest';
import { createMachine } from 'xstate';
import { StatelyEvents } from '../../../watch/stately-events.ts';

const nested = createMachine({
  id: 'nested',
  initial: 'idle',
  states: {
    idle: { on: { begin: { target: 'busy', guard: 'isFree' } } },
    busy: {
      type: 'parallel',
      states: {
        left: { initial: 'up', states: { up: {}, down: {} } },
        right: { initial: 'up', states: { up: {}, down: {} } },
      },
      on: { end: 'over' },
    },
    over: { type: 'final' },
  },
});

const stepOf = (from: string, to: string, more: Partial<WatchedEvent> = {}): WatchedEvent => ({
  type: 'machine-step',
  timestamp: 1_800_000_000_000,
  place: 'worker-1',
  agentId: 'mars',
  machine: 'nested',
  actorId: 'nested',
  event: 'begin',
  from,
  to,
  ...more,
});

describe('StatelyEvents (F-08)', () => {
  it('tells of an actor once, with its definition, and of each step its event and where it leads', () => {
    const stately = new StatelyEvents([{ ...drawingOf(nested), agentId: 'mars' }]);
    const messages = stately.of(stepOf('idle', 'busy.left.up right.up', { facts: new Map([['bids', 2]]) }));
    expect(messages.map(({ type }) => type)).toEqual(['@xstate.actor', '@xstate.event', '@xstate.snapshot']);
    expect(new Set(messages.map(({ sessionId }) => sessionId))).toEqual(new Set(['mars/nested/nested']));
    expect(messages[2]).toMatchObject({
      event: { type: 'begin' },
      snapshot: { status: 'active', value: { busy: { left: 'up', right: 'up' } }, context: { bids: 2 } },
    });
    const again = stately.of(stepOf('busy.left.up right.up', 'over', { event: 'end' }));
    expect(again.map(({ type }) => type)).toEqual(['@xstate.event', '@xstate.snapshot']);
    stately.forget();
    expect(stately.of(stepOf('over', 'over'))[0]?.type).toBe('@xstate.actor');
  });

  it('gives a definition that XState takes, in which every state and way is', () => {
    const stately = new StatelyEvents([drawingOf(nested)]);
    const [actor] = stately.of(stepOf('idle', 'over'));
    if (actor?.type !== '@xstate.actor') throw new Error('No actor is told of');
    const definition = JSON.parse(actor.definition) as Parameters<typeof createMachine>[0];
    const again = drawingOf(createMachine(definition));
    const { states, transitions, initial } = drawingOf(nested);
    expect(again.states.map(({ id }) => id)).toEqual(states.map(({ id }) => id));
    expect(again.transitions).toEqual(transitions);
    expect(again.initial).toBe(initial);
  });

  it('makes nothing of events that are no steps, and something of a machine that is not known', () => {
    const stately = new StatelyEvents([]);
    expect(stately.of({ type: 'message-sent', timestamp: 1 })).toEqual([]);
    const [actor] = stately.of(stepOf('a', 'b.c', { machine: 'other' }));
    expect(actor).toMatchObject({ type: '@xstate.actor', definition: '{"id":"other"}' });
  });
});
