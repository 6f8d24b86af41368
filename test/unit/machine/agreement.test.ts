import { globSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type AnyStateMachine, createActor, type EventObject, StateMachine } from 'xstate';
import { MachineHost } from '../../../runtime/machine/machine-host.ts';
import { outlineOf } from '../../../runtime/machine/machine-outline.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';

const ROOT = new URL('../../../', import.meta.url);

/** Agents' own logic, whose children XState's actors run. */
const WITH_CHILDREN = [
  'apps/audit/planet.machine.ts',
  'apps/ralph-loop/agents/mercury.machine.ts',
  'apps/ralph-loop/loop/task.machine.ts',
  'test/fixtures/agents/gate.machine.ts',
];

/** What a machine is made of that is made by a function. */
const ROLE = { id: 'planet', capability: 'work.do' };

/** What every machine finds what it needs in: in its input, and in its events. */
const INPUT = {
  asked: ['mars', 'venus', 'pluto'],
  alternativesLeft: 1,
  deadlineMs: 89,
  leaseMs: 31,
  holdMs: 53,
  repeatMs: 13,
  restart: 'transient',
};
const anyAgent = fc.constantFrom('mars', 'venus', 'pluto', 'ceres');
const anyDelta = fc.record({ version: fc.nat(4) });
const anyFacts = fc.record({
  agentId: anyAgent,
  alternative: fc.option(anyAgent, { nil: undefined }),
  epoch: fc.option(fc.nat(3), { nil: undefined }),
  leaseLeftMs: fc.constantFrom(17, 43),
  version: fc.nat(4),
  delta: anyDelta,
  input: fc.record({ severity: fc.constantFrom('high', 'low'), line: fc.nat(9) }),
});

const machines = await Promise.all(
  globSync('**/*.machine.ts', { cwd: ROOT, exclude: (name) => name.includes('node_modules') })
    .sort()
    .map(async (file) => ({ file, machine: machineOf(await import(new URL(file, ROOT).href)) })),
);

function machineOf(module: Readonly<Record<string, unknown>>): AnyStateMachine {
  const [name, exported] = Object.entries(module).find(([name]) => name.endsWith('Machine')) ?? [];
  const machine =
    exported instanceof StateMachine ? exported : (exported as (...of: unknown[]) => unknown)(ROLE, ['tool']);
  expect(machine, name).toBeInstanceOf(StateMachine);
  return machine as AnyStateMachine;
}

/** The events that come from outside: what a machine delays comes from itself. */
function eventsOf(machine: AnyStateMachine): string[] {
  const actions = Object.values(machine.implementations.actions) as { type?: string; event?: EventObject }[];
  const own = new Set(actions.flatMap(({ type, event }) => (type === 'xstate.raise' ? [event?.type] : [])));
  return machine.events.filter((type) => !own.has(type) && !type.startsWith('xstate.'));
}

type Doing = { readonly send: EventObject } | { readonly passMs: number };

/** A machine that assigns nothing is asked by names alone, too: those of its steps are remembered. */
const eventOf = (machine: AnyStateMachine): fc.Arbitrary<EventObject> => {
  const facts = outlineOf(machine).isConstant ? fc.option(anyFacts, { nil: {} }) : anyFacts;
  return fc.tuple(fc.constantFrom(...eventsOf(machine)), facts).map(([type, some]) => ({ ...some, type }));
};

const doingsOf = (machine: AnyStateMachine): fc.Arbitrary<readonly Doing[]> => {
  const send = eventOf(machine).map((event) => ({ send: event }));
  const pass = fc.constantFrom(7, 13, 31, 60).map((passMs) => ({ passMs }));
  return fc.array(fc.oneof({ weight: 4, arbitrary: send }, { weight: 1, arbitrary: pass }), {
    size: 'max',
    maxLength: 30,
  });
};

/** Which action sends what while it is done. */
const answersOf = (machine: AnyStateMachine, names: readonly string[]) =>
  names.length === 0
    ? fc.constant({})
    : fc.dictionary(fc.constantFrom(...names), eventOf(machine), { maxKeys: 2 });

/** What is seen of a run: every action with what it found, and where the machine stood after each doing. */
interface Run {
  readonly trace: unknown[];
  readonly send: (event: EventObject) => void;
  readonly stand: () => unknown;
}

/** Actions answer so often, and no more: two that answer each other would never end. */
const MAX_ANSWERS = 5;

/** XState gives the parameters beside the rest. */
interface Found {
  readonly context: unknown;
  readonly event: EventObject;
  readonly params?: unknown;
}

function acts(names: readonly string[], answers: Readonly<Record<string, EventObject>>, run: Run) {
  let left = MAX_ANSWERS;
  const act = (name: string) => (args: Found, given?: unknown) => {
    const { context, event, params = given } = args;
    run.trace.push([name, structuredClone(context), event, params]);
    const answer = answers[name];
    if (answer === undefined || left === 0) return;
    left -= 1;
    run.send(answer);
  };
  return Object.fromEntries(names.map((name) => [name, act(name)]));
}

function play(run: Run, clock: FakeClock, doings: readonly Doing[]): readonly unknown[] {
  for (const doing of doings) {
    if ('send' in doing) run.send(doing.send);
    else clock.advance(doing.passMs);
    run.trace.push(structuredClone(run.stand()));
  }
  return run.trace;
}

interface Play {
  readonly machine: AnyStateMachine;
  readonly names: readonly string[];
  readonly answers: Readonly<Record<string, EventObject>>;
  readonly doings: readonly Doing[];
}

function asActor({ machine, names, answers, doings }: Play): readonly unknown[] {
  const clock = new FakeClock();
  const run: Run = {
    trace: [],
    send: (event) => void (actor.getSnapshot().status === 'active' && actor.send(event)),
    stand: () => {
      const { value, context, status } = actor.getSnapshot();
      return [value, context, status !== 'active', clock.pending];
    },
  };
  const actor = createActor(machine.provide({ actions: acts(names, answers, run) as never }), {
    input: INPUT,
    clock: {
      setTimeout: (fire, ms) => clock.setTimer(ms, fire as () => void),
      clearTimeout: (stop: () => void) => stop(),
    },
  });
  actor.start();
  return play(run, clock, doings);
}

function asHost({ machine, names, answers, doings }: Play): readonly unknown[] {
  const clock = new FakeClock();
  const run: Run = {
    trace: [],
    send: (event) => host.send(event),
    stand: () => [host.value, host.context, host.isOver, clock.pending],
  };
  const host = new MachineHost(machine, { clock, actions: acts(names, answers, run) }, { input: INPUT });
  host.start();
  return play(run, clock, doings);
}

const hosted = machines.filter(({ machine }) => outlineOf(machine).foreign.length === 0);

describe('a machine in a host', () => {
  it('is every machine but those of agents that have children', () => {
    const others = machines.filter((one) => !hosted.includes(one)).map(({ file }) => file);
    expect(others).toEqual(WITH_CHILDREN);
    expect(hosted.length).toBeGreaterThan(8);
  });

  it.each(hosted)('does what it does as an actor of its own: $file', ({ machine }) => {
    const names = [...outlineOf(machine).effects];
    const plays = fc.record({ answers: answersOf(machine, names), doings: doingsOf(machine) });
    fc.assert(
      fc.property(plays, (play) => {
        expect(asHost({ machine, names, ...play })).toEqual(asActor({ machine, names, ...play }));
      }),
      { numRuns: 200 },
    );
  });
});
