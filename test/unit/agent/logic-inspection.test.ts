import { describe, expect, it } from 'vitest';
import { fromTransition, setup } from 'xstate';
import { LogicRunner, type LogicHandling } from '../../../runtime/agent/logic-runner.ts';
import type { WatchedStep } from '../../../runtime/protocol/step-watch.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';

/** Works when it is told to, unless it is tired, and rests by itself after a while. */
const workerMachine = setup({
  guards: { isTired: () => true },
}).createMachine({
  id: 'worker',
  initial: 'idle',
  states: {
    idle: { tags: 'ready', on: { work: [{ guard: 'isTired', target: 'resting' }] } },
    resting: { tags: 'ready', after: { 1000: 'idle' } },
  },
});

const handling = { isOver: false } as LogicHandling;

function watched(logic: ConstructorParameters<typeof LogicRunner>[0]) {
  const clock = new FakeClock();
  const steps: WatchedStep[] = [];
  const listeners = new Set<() => void>();
  const watch = {
    isOff: true,
    isOn: () => !watch.isOff,
    tell: (step: WatchedStep) => void steps.push(step),
    onChange: (listener: () => void) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    turn: (isOff: boolean) => {
      watch.isOff = isOff;
      for (const listener of listeners) listener();
    },
  };
  const deps = { clock, onError: () => undefined, onDone: () => undefined, watch };
  return { clock, watch, listeners, steps, runner: new LogicRunner(logic, undefined, deps) };
}

describe('LogicInspection (F-08)', () => {
  it('tells the steps of an agent’s own machine from when somebody watches until nobody does', () => {
    const { clock, watch, steps, runner } = watched(workerMachine);
    runner.handle('unheard', undefined, handling);
    expect(steps).toEqual([]);
    watch.turn(false);
    runner.handle('work', undefined, handling);
    clock.advance(1_000);
    expect(steps.filter(({ from, to }) => from !== to)).toEqual([
      { machine: 'worker', actorId: 'worker', event: 'work', from: 'idle', to: 'resting' },
      expect.objectContaining({ actorId: 'worker', from: 'resting', to: 'idle' }),
    ]);
    watch.turn(true);
    runner.handle('work', undefined, handling);
    const before = steps.length;
    runner.handle('unheard', undefined, handling);
    expect(steps).toHaveLength(before);
  });

  it('tells of a machine that goes on by itself when somebody begins to watch, and of nothing when it is stopped', () => {
    const { clock, watch, listeners, steps, runner } = watched(workerMachine);
    runner.handle('work', undefined, handling);
    watch.turn(false);
    clock.advance(1_000);
    expect(steps.map(({ from, to }) => [from, to])).toEqual([['resting', 'idle']]);
    runner.stop();
    expect(listeners.size).toBe(0);
  });

  it('says which machine it is, as a line of the roster', () => {
    expect(watched(workerMachine).runner.row).toEqual({ id: 'worker', machine: 'worker', state: 'idle' });
  });

  it('tells nothing of logic that has no states', () => {
    const { watch, steps, runner } = watched(fromTransition((count: number) => count + 1, 0));
    watch.turn(false);
    runner.handle('work', undefined, handling);
    expect([steps, runner.row]).toEqual([[], undefined]);
  });
});
