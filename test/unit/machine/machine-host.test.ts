import { describe, expect, it } from 'vitest';
import { type AnyStateMachine, assign, cancel, fromPromise, raise, sendTo, setup } from 'xstate';
import { MachineHost } from '../../../runtime/machine/machine-host.ts';
import { stepsOf } from '../../../runtime/machine/machine-steps.ts';
import type { WatchedStep } from '../../../runtime/protocol/step-watch.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';

type LampEvent =
  | { readonly type: 'lamp.pressed'; readonly by?: string }
  | { readonly type: 'lamp.dimmed' }
  | { readonly type: 'time.over' }
  | { readonly type: 'warning.due' };

/** It is on for a while after it was pressed, blinks before it goes off, and breaks at the fourth time. */
const lampMachine = setup({
  types: {
    context: {} as { readonly pressed: number; readonly onMs: number },
    input: {} as { readonly onMs: number },
    events: {} as LampEvent,
    tags: {} as 'lit',
  },
  guards: {
    isWorn: ({ context }) => context.pressed >= 3,
    isByNobody: ({ event }) => 'by' in event && event.by === 'nobody',
  },
  delays: { onMs: ({ context }) => context.onMs, warnMs: ({ context }) => context.onMs / 2 },
  actions: {
    count: assign({ pressed: ({ context }) => context.pressed + 1 }),
    armEnd: raise({ type: 'time.over' }, { delay: 'onMs', id: 'end' }),
    cancelEnd: cancel('end'),
    armWarning: raise({ type: 'warning.due' }, { delay: 'warnMs', id: 'warning' }),
    cancelWarning: cancel('warning'),
    light: () => undefined,
    blink: () => undefined,
    darken: () => undefined,
    tellWho: () => undefined,
  },
}).createMachine({
  id: 'lamp',
  context: ({ input }) => ({ pressed: 0, onMs: input.onMs }),
  initial: 'off',
  states: {
    off: {
      on: {
        'lamp.pressed': [
          { guard: 'isByNobody' },
          { guard: 'isWorn', target: 'broken' },
          { target: 'on', actions: ['tellWho', 'count', 'tellWho'] },
        ],
      },
    },
    on: {
      tags: 'lit',
      entry: ['light', 'armEnd', 'armWarning'],
      exit: ['cancelEnd', 'cancelWarning', 'darken'],
      on: {
        'lamp.pressed': { target: 'on', reenter: true, actions: 'count' },
        'lamp.dimmed': 'off',
        'time.over': 'off',
        'warning.due': { actions: 'blink' },
      },
    },
    broken: { type: 'final' },
  },
});

const ALL = ['light', 'blink', 'darken', 'tellWho'] as const;
type Lamp = typeof lampMachine;

function lamp({
  onDo = () => undefined,
  persisted,
  clock = new FakeClock(),
}: {
  onDo?: (name: string, host: MachineHost<Lamp>) => void;
  persisted?: ReturnType<MachineHost<Lamp>['persist']>;
  clock?: FakeClock;
} = {}) {
  const done: string[] = [];
  const actions = Object.fromEntries(
    ALL.map((name) => [
      name,
      ({ context, event }: { context: { pressed: number }; event: LampEvent }) => {
        done.push(`${name} ${context.pressed} ${event.type}`);
        onDo(name, host);
      },
    ]),
  );
  const beginning = persisted === undefined ? { input: { onMs: 100 } } : { persisted };
  const host: MachineHost<Lamp> = new MachineHost(lampMachine, { clock, actions }, beginning);
  host.start();
  return { host, done, clock, step: (type: LampEvent['type']) => host.send({ type }) };
}

/** A lamp whose steps are watched, unless `watch.isOff`. */
function watchedLamp() {
  const clock = new FakeClock();
  const steps: WatchedStep[] = [];
  const watch = {
    isOff: false,
    isOn: () => !watch.isOff,
    tell: (step: WatchedStep) => void steps.push(step),
  };
  const actions = Object.fromEntries(ALL.map((name) => [name, () => undefined]));
  const facts = ({ pressed }: { readonly pressed: number }) => ({ pressed });
  const host = new MachineHost(lampMachine, { clock, actions, watch, facts }, { input: { onMs: 100 } });
  host.start();
  return { host, watch, steps };
}

describe('a machine in a host', () => {
  it('does the named actions of a step in their order, each with the context at its place', () => {
    const { host, done, step } = lamp();
    step('lamp.pressed');
    expect(done).toEqual(['tellWho 0 lamp.pressed', 'tellWho 1 lamp.pressed', 'light 1 lamp.pressed']);
    expect(host.value).toBe('on');
    expect(host.context).toEqual({ pressed: 1, onMs: 100 });
    expect([host.hasTag('lit'), [...host.tags], host.matches('on'), host.matches('off')]).toEqual([
      true,
      ['lit'],
      true,
      false,
    ]);
  });

  it('takes what an action sends when all actions of the step are done', () => {
    const seen: string[] = [];
    const { host, done } = lamp({
      onDo: (name, self) => {
        if (name !== 'light' || self.context.pressed > 1) return;
        self.send({ type: 'lamp.dimmed' });
        self.send({ type: 'lamp.pressed' });
        seen.push(String(self.value));
      },
    });
    host.observe(({ event, from, to }) => seen.push(`${event.type}: ${from.value} to ${to.value}`));
    host.send({ type: 'lamp.pressed' });
    expect(seen).toEqual([
      'on',
      'lamp.pressed: off to on',
      'lamp.dimmed: on to off',
      'lamp.pressed: off to on',
    ]);
    expect(done.slice(-1)).toEqual(['light 2 lamp.pressed']);
  });

  it('takes an event that it does not listen to as nothing, and says so beforehand', () => {
    const { host, done, step } = lamp();
    expect([host.can({ type: 'lamp.dimmed' }), host.can({ type: 'lamp.pressed' })]).toEqual([false, true]);
    step('lamp.dimmed');
    expect([host.value, done]).toEqual(['off', []]);
  });

  it('has delayed events come in their order, and none that was cancelled', () => {
    const { host, done, clock, step } = lamp();
    step('lamp.pressed');
    clock.advance(60);
    step('lamp.pressed');
    expect(clock.pending).toBe(2);
    done.length = 0;
    clock.advance(49);
    expect(done).toEqual([]);
    clock.advance(1);
    expect(done).toEqual(['blink 2 warning.due']);
    clock.advance(50);
    expect(done).toEqual(['blink 2 warning.due', 'darken 2 time.over']);
    expect([host.value, clock.pending]).toEqual(['off', 0]);
  });

  it('forgets delayed events when it is over, and drops what is sent then', () => {
    const { host, done, step } = lamp();
    for (let time = 0; time < 3; time++) {
      step('lamp.pressed');
      step('lamp.dimmed');
    }
    step('lamp.pressed');
    expect([host.value, host.isOver, host.can({ type: 'lamp.pressed' })]).toEqual(['broken', true, false]);
    done.length = 0;
    step('lamp.pressed');
    expect(done).toEqual([]);
  });

  it('does nothing after it was stopped, not even what its actions had sent', () => {
    const { host, clock, done } = lamp({
      onDo: (name, self) => {
        if (name !== 'light') return;
        self.send({ type: 'lamp.dimmed' });
        self.stop();
      },
    });
    host.send({ type: 'lamp.pressed' });
    clock.advance(1_000);
    expect([host.value, clock.pending, done.at(-1)]).toEqual(['on', 0, 'light 1 lamp.pressed']);
  });

  it('leaves the rest of a step when an action throws, is whole all the same, and tells whoever sent the event', () => {
    const fault = new Error('no bulb');
    const { host, done, clock } = lamp({
      onDo: (name, self) => {
        if (name !== 'tellWho') return;
        self.send({ type: 'lamp.pressed' });
        throw fault;
      },
    });
    expect(() => host.send({ type: 'lamp.pressed' })).toThrow(fault);
    expect(done).toEqual(['tellWho 0 lamp.pressed', 'darken 1 lamp.pressed', 'light 2 lamp.pressed']);
    expect([host.value, host.context.pressed, clock.pending]).toEqual(['on', 2, 2]);
    clock.advance(100);
    expect(host.value).toBe('off');
  });

  it('tells whoever watches of each step as data, with the guards that kept an event from other ways (F-08)', () => {
    const { host, watch, steps } = watchedLamp();
    host.send({ type: 'lamp.pressed', by: 'somebody' });
    watch.isOff = true;
    host.send({ type: 'lamp.dimmed' });
    watch.isOff = false;
    host.send({ type: 'lamp.pressed', by: 'nobody' });
    expect(steps).toEqual([
      {
        machine: 'lamp',
        actorId: 'lamp',
        event: 'lamp.pressed',
        from: 'off',
        to: 'on',
        failedGuards: ['isByNobody', 'isWorn'],
        nextTimer: { event: expect.any(String) as string, atMs: expect.any(Number) as number },
        facts: { pressed: 1 },
      },
      {
        machine: 'lamp',
        actorId: 'lamp',
        event: 'lamp.pressed',
        from: 'off',
        to: 'off',
        facts: { pressed: 1 },
      },
    ]);
  });

  it('says of itself as a line of the roster where it stands, and which timer comes next (F-08)', () => {
    const { host } = watchedLamp();
    host.send({ type: 'lamp.pressed', by: 'somebody' });
    expect(host.row('lamp-7')).toMatchObject({
      id: 'lamp-7',
      machine: 'lamp',
      state: 'on',
      facts: { pressed: 1 },
    });
    expect(host.row().nextTimer?.atMs).toBeGreaterThan(0);
  });

  it('keeps events until it is started, and does first what it begins with', () => {
    const machine = setup({ actions: { greet: () => undefined, count: () => undefined } }).createMachine({
      id: 'greeter',
      entry: 'greet',
      on: { more: { actions: 'count' } },
    });
    const done: string[] = [];
    const actions = { greet: () => done.push('greet'), count: () => done.push('count') };
    const host = new MachineHost(machine, { actions });
    host.send({ type: 'more' });
    expect(done).toEqual([]);
    host.start();
    expect(done).toEqual(['greet', 'count']);
  });

  it('gives an action its parameters', () => {
    const said: unknown[] = [];
    const machine = setup({ actions: { say: (_, _words: { word: string }) => undefined } }).createMachine({
      on: { more: { actions: { type: 'say', params: { word: 'hello' } } } },
    });
    const host = new MachineHost(machine, { actions: { say: ({ params }) => said.push(params) } });
    host.send({ type: 'more' });
    expect(said).toEqual([{ word: 'hello' }]);
  });

  it('sends events whose delays have no id as often as they were set, and those of transitions', () => {
    const machine = setup({
      actions: { arm: raise({ type: 'again' }, { delay: 10 }), count: () => undefined },
    }).createMachine({
      initial: 'on',
      states: {
        on: { entry: ['arm', 'arm'], on: { again: { actions: 'count' } }, after: { 20: 'off' } },
        off: {},
      },
    });
    const clock = new FakeClock();
    const counted: string[] = [];
    const host = new MachineHost(machine, {
      clock,
      actions: { count: ({ event }) => counted.push(event.type) },
    });
    host.start();
    clock.advance(10);
    expect([counted, host.value]).toEqual([['again', 'again'], 'on']);
    clock.advance(10);
    expect(host.value).toBe('off');
  });
});

describe('a machine that goes on in another host', () => {
  const left = () => {
    const { host, clock, step } = lamp();
    step('lamp.pressed');
    clock.advance(30);
    const persisted = JSON.parse(JSON.stringify(host.persist())) as ReturnType<typeof host.persist>;
    host.stop();
    return { persisted, clock };
  };

  it('stands where it stood, has the time that was left, and enters nothing again', () => {
    const { persisted, clock } = left();
    const { host, done } = lamp({ persisted, clock });
    expect([host.value, host.context, done]).toEqual(['on', { pressed: 1, onMs: 100 }, []]);
    clock.advance(19);
    expect(done).toEqual([]);
    clock.advance(1);
    expect(done).toEqual(['blink 1 warning.due']);
    clock.advance(49);
    expect(host.value).toBe('on');
    clock.advance(1);
    expect(host.value).toBe('off');
  });

  it('takes what has become due meanwhile at once, in the order in which it was due', () => {
    const { persisted, clock } = left();
    clock.jump(500);
    const { host, done } = lamp({ persisted, clock });
    expect(done).toEqual(['blink 1 warning.due', 'darken 1 time.over']);
    expect([host.value, clock.pending]).toEqual(['off', 0]);
  });

  it('takes nothing that is due if an event before it cancels it', () => {
    const { persisted, clock } = left();
    clock.jump(500);
    const { done } = lamp({
      persisted,
      clock,
      onDo: (name, self) => name === 'blink' && self.send({ type: 'lamp.dimmed' }),
    });
    expect(done).toEqual(['blink 1 warning.due', 'darken 1 lamp.dimmed']);
  });

  it('waits no longer than the whole delay when the clock was set back', () => {
    const { persisted } = left();
    const clock = new FakeClock(1_000);
    const { host } = lamp({ persisted, clock });
    clock.advance(99);
    expect(host.value).toBe('on');
    clock.advance(1);
    expect(host.value).toBe('off');
  });

  it('can be left again before it is started', () => {
    const { persisted, clock } = left();
    const actions = {
      light: () => undefined,
      blink: () => undefined,
      darken: () => undefined,
      tellWho: () => undefined,
    };
    const host = new MachineHost(lampMachine, { clock, actions }, { persisted });
    expect(host.persist()).toEqual(persisted);
  });

  it('does not begin in a state that the machine does not have', () => {
    const { persisted, clock } = left();
    expect(() => lamp({ persisted: { ...persisted, value: 'green' }, clock })).toThrow(/green/);
  });
});

describe('a host that lacks something', () => {
  const refusal = (machine: AnyStateMachine, deps = {}): string => {
    try {
      new MachineHost(machine, deps, { input: { onMs: 1 } });
    } catch (error) {
      return (error as Error).message;
    }
    return 'none';
  };

  it('names the actions that are missing, and the machine', () => {
    const clock = new FakeClock();
    const message = refusal(lampMachine, {
      clock,
      actions: { light: () => undefined, blink: () => undefined },
    });
    expect(message).toContain('expected what "tellWho", "darken" of the machine "lamp" does');
  });

  it('asks for a clock where events are delayed', () => {
    const actions = {
      light: () => undefined,
      blink: () => undefined,
      darken: () => undefined,
      tellWho: () => undefined,
    };
    expect(refusal(lampMachine, { actions })).toMatch(/clock.*machine "lamp"/);
  });

  it('runs no machine that invokes, or sends to others', () => {
    const asks = setup({ actors: { ask: fromPromise(async () => 1) } }).createMachine({
      id: 'asker',
      initial: 'asking',
      states: { asking: { invoke: { src: 'ask', id: 'question' } } },
    });
    expect(refusal(asks)).toMatch(/asker.*invoke of "question"/);
    const sends = setup({ actions: { send: sendTo('other', { type: 'hi' }) } }).createMachine({
      entry: 'send',
    });
    expect(refusal(sends)).toMatch(/xstate\.sendTo/);
  });

  it('throws what the context throws over the input', () => {
    const picky = setup({ types: { input: {} as { size: number } } }).createMachine({
      context: ({ input }) => {
        if (input.size > 1) throw new RangeError('too large');
        return {};
      },
    });
    expect(() => new MachineHost(picky, {}, { input: { size: 2 } })).toThrow(RangeError);
  });

  it('stays where it was when a guard throws', () => {
    const machine = setup({
      guards: {
        isFine: ({ event }) => {
          if ('bad' in event) throw new Error('no guard');
          return true;
        },
      },
    }).createMachine({
      initial: 'off',
      states: { off: { on: { go: { guard: 'isFine', target: 'on' } } }, on: {} },
    });
    const host = new MachineHost(machine, {});
    expect(() => host.send({ type: 'go', bad: true })).toThrow('no guard');
    host.send({ type: 'go' });
    expect(host.value).toBe('on');
  });
});

describe('the steps of machines that are in few states', () => {
  const doorMachine = setup({
    types: { context: {} as { readonly kind: string }, input: {} as { readonly kind: string } },
    guards: { isFor: ({ context, event }) => context.kind === ((event as { by?: string }).by ?? 'cat') },
  }).createMachine({
    id: 'door',
    context: ({ input }) => ({ kind: input.kind }),
    initial: 'closed',
    states: {
      closed: { on: { open: { guard: 'isFor', target: 'open' } } },
      open: { on: { close: 'closed' } },
    },
  });

  it('are made once for all that are alike', () => {
    const steps = stepsOf(doorMachine);
    const { snapshot: closed } = steps.begin({ kind: 'cat' });
    const { snapshot: open } = steps.step(closed, { type: 'open' });
    expect(open.value).toBe('open');
    expect(steps.begin({ kind: 'cat' }).snapshot).toBe(closed);
    expect(steps.step(closed, { type: 'open' }).snapshot).toBe(open);
    expect(steps.step(open, { type: 'close' }).snapshot).toBe(closed);
    expect(steps.at('open', { kind: 'cat' })).toBe(open);
  });

  it('are not those of another context, and an event that says more than its name is looked at anew', () => {
    const steps = stepsOf(doorMachine);
    const { snapshot: dogs } = steps.begin({ kind: 'dog' });
    expect(steps.step(dogs, { type: 'open' }).snapshot.value).toBe('closed');
    expect(steps.step(dogs, { type: 'open', by: 'dog' } as never).snapshot.value).toBe('open');
    expect(steps.can(dogs, { type: 'open' })).toBe(false);
    expect(steps.can(dogs, { type: 'open', by: 'dog' } as never)).toBe(true);
  });

  it('are each their own beyond so many, and stay right', () => {
    const steps = stepsOf(doorMachine);
    const kinds = Array.from({ length: 400 }, (_, at) => `kind-${at}`);
    for (const kind of kinds) {
      const { snapshot } = steps.begin({ kind });
      expect(steps.step(snapshot, { type: 'open', by: kind } as never).snapshot.value).toBe('open');
    }
    expect(steps.begin({ kind: 'kind-399' }).snapshot).not.toBe(steps.begin({ kind: 'kind-399' }).snapshot);
  });
});
