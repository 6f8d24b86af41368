import { describe, expect, it, vi } from 'vitest';
import { assign, fromPromise, fromTransition, setup, spawnChild } from 'xstate';
import { type LogicHandling, LogicRunner } from '../../../runtime/agent/logic-runner.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';

const handling = { isOver: false, settle: () => undefined } as unknown as LogicHandling;

const logic = setup({
  types: { context: {} as { rounds: number } },
  delays: { round: 1_000, rest: 500 },
  actions: { count: assign({ rounds: ({ context }) => context.rounds + 1 }) },
}).createMachine({
  id: 'lamp',
  context: { rounds: 0 },
  initial: 'dark',
  states: {
    dark: { on: { light: 'lit' } },
    lit: { after: { round: { target: 'resting', actions: 'count' } }, on: { dim: 'dark' } },
    resting: { after: { rest: 'lit' } },
  },
});

interface Left {
  readonly value: unknown;
  readonly context: unknown;
  readonly timers: readonly { readonly delayMs: number }[];
}

const runner = (clock: FakeClock, state?: unknown) =>
  new LogicRunner(
    logic,
    undefined,
    {
      clock,
      onError: (error) => {
        throw error;
      },
      onDone: () => undefined,
    },
    state === undefined ? undefined : { state },
  );
const left = (one: LogicRunner): Left => JSON.parse(JSON.stringify(one.leave()?.state)) as Left;

describe('Logic that is handed on', () => {
  it('goes on with what is left of its delays', () => {
    const clock = new FakeClock();
    const one = runner(clock);
    one.handle('light', undefined, handling);
    clock.advance(700);
    const state = left(one);
    one.stop();
    expect(state).toMatchObject({ value: 'lit', timers: [{ delayMs: 300 }] });
    expect(clock.pending).toBe(0);
    clock.advance(10_000);
    const other = runner(clock, state);
    expect(left(other)).toEqual(state);
    clock.advance(299);
    expect(left(other).value).toBe('lit');
    clock.advance(1);
    expect(left(other)).toMatchObject({
      value: 'resting',
      context: { rounds: 1 },
      timers: [{ delayMs: 500 }],
    });
  });

  it('takes a delay back that it goes on with when it leaves the state', () => {
    const clock = new FakeClock();
    const one = runner(clock);
    one.handle('light', undefined, handling);
    const other = runner(clock, left(one));
    one.stop();
    other.handle('dim', undefined, handling);
    expect(left(other)).toMatchObject({ value: 'dark', timers: [] });
    expect(clock.pending).toBe(0);
  });

  it('leaves the state of a transition function, and nothing of what only runs', () => {
    const clock = new FakeClock();
    const deps = { clock, onError: () => undefined, onDone: () => undefined };
    const sum = fromTransition(
      (n: number, event: { type: string; input?: number }) => n + (event.input ?? 0),
      0,
    );
    const one = new LogicRunner(sum as never, undefined, deps);
    one.handle('add', 3, handling);
    expect(one.leave()).toEqual({ state: 3 });
    const other = new LogicRunner(sum as never, undefined, deps, { state: 3 });
    other.handle('add', 4, handling);
    expect(other.leave()).toEqual({ state: 7 });
    expect(
      new LogicRunner(
        fromPromise(() => new Promise(() => undefined)),
        {},
        deps,
      ).leave(),
    ).toBeUndefined();
  });

  it('does not leave a state that is not all there is of it: a delay of a child, a child without a name', () => {
    const deps = { clock: new FakeClock(), onError: () => undefined, onDone: () => undefined };
    const parent = (child: object) =>
      setup({ actors: { lamp: logic } }).createMachine({ invoke: child as never });
    const sleeping = new LogicRunner(parent({ src: 'lamp', id: 'lamp' }), undefined, deps);
    expect(sleeping.leave()).toMatchObject({ state: { children: { lamp: { src: 'lamp' } } } });
    const waiting = setup({}).createMachine({
      initial: 'one',
      states: { one: { after: { 5: 'two' } }, two: {} },
    });
    const delayed = new LogicRunner(
      setup({ actors: { waiting } }).createMachine({ invoke: { src: 'waiting', id: 'child' } }),
      undefined,
      deps,
    );
    expect(() => delayed.leave()).toThrow(
      expect.objectContaining({
        code: 'REFUSED',
        message: expect.stringContaining('from "child" to "child"'),
      }),
    );
    const nameless = new LogicRunner(setup({}).createMachine({ entry: spawnChild(logic) }), undefined, deps);
    expect(() => nameless.leave()).toThrow(expect.objectContaining({ code: 'REFUSED' }));
  });

  it('does not begin with a state that it cannot have', () => {
    expect(() =>
      runner(new FakeClock(), {
        value: 'gone',
        context: {},
        children: {},
        historyValue: {},
        status: 'active',
      }),
    ).toThrow(/gone/);
  });
});

describe('Logic that throws while an envelope waits for it', () => {
  it('is told of once, and nowhere else', () => {
    const clock = new FakeClock();
    const errors: unknown[] = [];
    const fragile = setup({ delays: { round: 10 } }).createMachine({
      id: 'fragile',
      initial: 'whole',
      states: {
        whole: { on: { light: 'lit' } },
        lit: {
          after: {
            round: {
              actions: () => {
                throw new Error('it broke');
              },
            },
          },
        },
      },
    });
    const deps = { clock, onError: (error: unknown) => errors.push(error), onDone: () => undefined };
    const one = new LogicRunner(fragile, undefined, deps);
    // It is not ready: the envelope waits.
    expect(one.handle('light', undefined, handling)).toBe(false);
    // XState throws from a timer what some observer does not want to hear of.
    const timers = vi.spyOn(globalThis, 'setTimeout');
    try {
      clock.advance(10);
      expect(timers).not.toHaveBeenCalled();
    } finally {
      timers.mockRestore();
    }
    expect(errors).toEqual([expect.objectContaining({ message: 'it broke' })]);
  });
});
