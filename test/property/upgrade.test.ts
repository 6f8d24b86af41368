import { type AgentDefinition, defineAgent, type Snapshot } from 'orrery';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type AnyStateMachine, assign, setup } from 'xstate';
import { type LogicHandling, LogicRunner } from '../../runtime/agent/logic-runner.ts';
import { restore } from '../../runtime/upgrade/restore.ts';
import { takeSnapshot } from '../../runtime/upgrade/take-snapshot.ts';
import { FakeClock } from '../fixtures/fake-clock.ts';

/** A turnstile: it opens for a coin, closes by itself, and counts. */
const first = setup({
  types: { context: {} as { coins: number; passed: number } },
  delays: { patience: 30, repair: 100 },
  actions: {
    take: assign({ coins: ({ context }) => context.coins + 1 }),
    pass: assign({ passed: ({ context }) => context.passed + 1 }),
  },
}).createMachine({
  id: 'turnstile',
  context: { coins: 0, passed: 0 },
  initial: 'locked',
  on: { jam: '.jammed' },
  states: {
    locked: { on: { coin: { target: 'unlocked', actions: 'take' } } },
    unlocked: {
      on: { push: { target: 'locked', actions: 'pass' }, coin: { actions: 'take' } },
      after: { patience: 'locked' },
    },
    jammed: { after: { repair: 'locked' } },
  },
});

/** The same, with other words for everything, and states within states. */
const second = setup({
  types: { context: {} as { counts: { paid: number; through: number } } },
  delays: { patience: 30, repair: 100 },
  actions: {
    take: assign({ counts: ({ context: { counts } }) => ({ ...counts, paid: counts.paid + 1 }) }),
    pass: assign({ counts: ({ context: { counts } }) => ({ ...counts, through: counts.through + 1 }) }),
  },
}).createMachine({
  id: 'gate',
  context: { counts: { paid: 0, through: 0 } },
  initial: 'working',
  on: { jam: '.broken' },
  states: {
    working: {
      initial: 'shut',
      states: {
        shut: { on: { coin: { target: 'open', actions: 'take' } } },
        open: {
          on: { push: { target: 'shut', actions: 'pass' }, coin: { actions: 'take' } },
          after: { patience: 'shut' },
        },
      },
    },
    broken: { after: { repair: 'working' } },
  },
});

interface FirstState {
  readonly value: 'locked' | 'unlocked' | 'jammed';
  readonly context: { readonly coins: number; readonly passed: number };
  readonly timers: readonly { readonly delayMs: number }[];
}
interface SecondState {
  readonly value: 'broken' | { readonly working: 'shut' | 'open' };
  readonly context: { readonly counts: { readonly paid: number; readonly through: number } };
  readonly timers: readonly { readonly delayMs: number }[];
}

const WORDS = { locked: { working: 'shut' }, unlocked: { working: 'open' }, jammed: 'broken' } as const;
const AFTER = {
  unlocked: 'xstate.after.patience.turnstile.unlocked',
  jammed: 'xstate.after.repair.turnstile.jammed',
  open: 'xstate.after.patience.gate.working.open',
  broken: 'xstate.after.repair.gate.broken',
};
const timer = (id: string, [left]: FirstState['timers']) =>
  left === undefined ? [] : [{ id, event: { type: id }, delayMs: left.delayMs }];

const forward = ({ value, context, timers }: FirstState) => ({
  value: WORDS[value],
  context: { counts: { paid: context.coins, through: context.passed } },
  timers: timer(value === 'jammed' ? AFTER.broken : AFTER.open, timers),
});

const back = ({ value, context, timers }: SecondState) => ({
  value: value === 'broken' ? 'jammed' : value.working === 'open' ? 'unlocked' : 'locked',
  context: { coins: context.counts.paid, passed: context.counts.through },
  timers: timer(value === 'broken' ? AFTER.jammed : AFTER.unlocked, timers),
});

const agent = (version: string, logic: AnyStateMachine): AgentDefinition =>
  defineAgent({ id: 'agent', name: 'AGENT', version, description: 'Turns', tier: 2 }).logic(logic);
const VERSIONS = {
  '1.0.0': agent('1.0.0', first).migrate('2.x', back) as AgentDefinition<unknown>,
  '2.0.0': agent('2.0.0', second).migrate('1.x', forward) as AgentDefinition<unknown>,
};
type Version = keyof typeof VERSIONS;

const handling = { isOver: false, settle: () => undefined } as unknown as LogicHandling;

/** An agent that is given other code now and then. */
class Upgraded {
  version: Version = '1.0.0';
  readonly #clock: FakeClock;
  #runner: LogicRunner;

  constructor(clock: FakeClock) {
    this.#clock = clock;
    this.#runner = this.#begin(undefined);
  }

  send(type: string): void {
    this.#runner.handle(type, undefined, handling);
  }

  upgrade(to: Version): void {
    const snapshot = JSON.parse(JSON.stringify(this.snapshot)) as Snapshot;
    this.#runner.stop();
    this.version = to;
    const restored = restore(VERSIONS[to], snapshot);
    if ('parked' in restored) throw restored.parked;
    this.#runner = this.#begin(restored.state);
  }

  get snapshot(): Snapshot {
    const left = this.#runner.leave() as { state: unknown };
    return takeSnapshot(VERSIONS[this.version], left, {
      agentId: 'agent',
      atMs: this.#clock.now(),
    }) as Snapshot;
  }

  /** Its state in the words of version 1. */
  get told(): unknown {
    const { state } = this.snapshot;
    const { value, context, timers } = (
      this.version === '1.0.0' ? state : back(state as unknown as SecondState)
    ) as FirstState;
    return { value, context, waitsMs: timers.map(({ delayMs }) => delayMs) };
  }

  #begin(state: unknown): LogicRunner {
    const deps = {
      clock: this.#clock,
      onError: (error: unknown) => {
        throw error;
      },
      onDone: () => undefined,
    };
    const logic = VERSIONS[this.version].actorLogic as AnyStateMachine;
    return new LogicRunner(logic, undefined, deps, state === undefined ? undefined : { state });
  }
}

const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('event' as const),
      type: fc.constantFrom('coin', 'push', 'jam'),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: fc.nat(60) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('upgrade' as const),
      to: fc.constantFrom<Version>('1.0.0', '2.0.0'),
    }),
  },
);

describe('An agent that is upgraded at any time (F-10)', () => {
  it('comes to the same as one that is not: its events, its states, and what is left of its delays', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60, size: 'max' }), (steps) => {
        const clock = new FakeClock();
        const upgraded = new Upgraded(clock);
        const reference = new Upgraded(clock);
        for (const one of steps) {
          if (one.kind === 'upgrade') upgraded.upgrade(one.to);
          else if (one.kind === 'wait') clock.advance(one.ms);
          else for (const agentOf of [upgraded, reference]) agentOf.send(one.type);
          expect(upgraded.told).toEqual(reference.told);
        }
      }),
      { numRuns: 300 },
    );
  });
});
