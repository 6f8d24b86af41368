import { describe, expect, it } from 'vitest';
import { and, createMachine, not, raise, setup } from 'xstate';
import { MACHINES } from '../../../machines.ts';
import { drawingOf } from '../../../runtime/machine/machine-drawing.ts';

describe('the drawing of a machine as data', () => {
  const lamp = setup({
    types: { events: {} as { type: 'pressed' } | { type: 'time.over' } | { type: 'cut' } },
    guards: { hasPower: () => true, isWarm: () => true },
    actions: { armTime: raise({ type: 'time.over' }, { delay: 50 }), click: () => undefined },
  }).createMachine({
    id: 'lamp',
    initial: 'off',
    on: { cut: '.gone' },
    states: {
      off: {
        description: 'No light',
        on: { pressed: { guard: and(['hasPower', not('isWarm')]), target: 'on' } },
      },
      on: {
        entry: 'armTime',
        initial: 'bright',
        states: { bright: { after: { 10: 'dim' } }, dim: { on: { pressed: { actions: 'click' } } } },
        on: { 'time.over': 'off' },
      },
      gone: { type: 'final' },
    },
  });

  it('names every state by its path, with its type, its parent and where it begins', () => {
    expect(drawingOf(lamp).states).toEqual([
      { id: 'off', name: 'off', type: 'atomic', description: 'No light' },
      { id: 'on', name: 'on', type: 'compound', initial: 'on.bright' },
      { id: 'on.bright', name: 'bright', parent: 'on', type: 'atomic' },
      { id: 'on.dim', name: 'dim', parent: 'on', type: 'atomic' },
      { id: 'gone', name: 'gone', type: 'final' },
    ]);
  });

  it('has each transition with its guard, says which are delayed, and which leave nothing', () => {
    expect(drawingOf(lamp)).toMatchObject({
      id: 'lamp',
      initial: 'off',
      transitions: [
        { from: '', to: 'gone', event: 'cut' },
        { from: 'off', to: 'on', event: 'pressed', guard: '(hasPower and not isWarm)' },
        { from: 'on', to: 'off', event: 'time.over', delayed: true },
        { from: 'on.bright', to: 'on.dim', event: 'after 10 ms', delayed: true },
        { from: 'on.dim', to: 'on.dim', event: 'pressed' },
      ],
    });
  });

  it('begins in a state of each region of a parallel machine', () => {
    const twice = createMachine({
      id: 'twice',
      type: 'parallel',
      states: { a: { initial: 'x', states: { x: {} } }, b: { initial: 'y', states: { y: {} } } },
    });
    expect(drawingOf(twice).initial).toBe('a.x b.y');
  });

  it.each(MACHINES.map((machine) => [machine.id, machine] as const))(
    'has all states and no arrow into nowhere for %s',
    (_id, machine) => {
      const { states, transitions, initial } = drawingOf(machine);
      const ids = new Set(states.map(({ id }) => id));
      expect(ids.size).toBe(states.length);
      expect(initial.split(' ').every((id) => ids.has(id))).toBe(true);
      for (const { from, to } of transitions) {
        expect(from === '' || ids.has(from)).toBe(true);
        expect(to === '' || ids.has(to)).toBe(true);
      }
      expect(JSON.parse(JSON.stringify(drawingOf(machine)))).toEqual(drawingOf(machine));
    },
  );
});
