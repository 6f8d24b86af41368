import { type AgentDefinition, defineAgent } from 'orrery';
import { describe, expect, it } from 'vitest';
import { type AnyActorLogic, and, assign, fromPromise, fromTransition, not, setup } from 'xstate';
import { z } from 'zod';
import { stateIdentity } from '../../../runtime/upgrade/state-identity.ts';

const agent = (version = '1.0.0') =>
  defineAgent({ id: 'door', name: 'DOOR', version, description: 'Opens', tier: 2 });
const hashOf = (definition: AgentDefinition<never> | AgentDefinition): string | undefined =>
  stateIdentity(definition as AgentDefinition<unknown>)?.hash;
const ofLogic = (logic: AnyActorLogic): string | undefined => hashOf(agent().logic(logic));

interface Names {
  readonly guard?: string;
  readonly action?: string;
  readonly delay?: string | number;
  readonly target?: string;
  readonly src?: string;
  readonly tag?: string;
  readonly context?: Readonly<Record<string, unknown>>;
  readonly id?: string;
}

/** The same machine but for what is named differently. */
function door(names: Names = {}) {
  const { guard = 'isUnlocked', action = 'count', delay = 'moving', target = 'open', src = 'lock' } = names;
  return setup({}).createMachine({
    id: names.id ?? 'door',
    context: names.context ?? { opened: 0 },
    initial: 'closed',
    states: {
      closed: {
        tags: names.tag ?? 'ready',
        on: { 'door.open': { target: 'opening', guard, actions: action }, 'door.lock': 'locking' },
      },
      opening: { after: { [delay]: target } },
      locking: { invoke: { src, onDone: 'closed' } },
      open: { on: { 'door.close': 'closed' } },
    },
  } as never);
}

describe('The identity of a state', () => {
  it('names machine, version and hash; without a machine the agent', () => {
    expect(stateIdentity(agent('1.2.3').logic(door()))).toMatchObject({
      machineId: 'door',
      version: '1.2.3',
    });
    expect(stateIdentity(agent().keepsState(z.int()) as AgentDefinition<unknown>)).toMatchObject({
      machineId: 'door',
    });
    expect(stateIdentity(agent())).toBeUndefined();
  });

  it('is what it has been in every other process', () => {
    expect(ofLogic(door())).toBe('6de3bf1df4e865c237def3f99517fd849f6e89dda8164b367632dea767025cf6');
    expect(hashOf(agent().keepsState(z.object({ n: z.int(), at: z.string().optional() })))).toBe(
      '7c19ffb422ff1c176be430fde84ac952c0ede4ae11feb1c6cf8a086ecfb1fe90',
    );
  });

  it('is the same for the same structure, however it is written and whatever its functions do', () => {
    const machine = (n: number) =>
      setup({
        guards: { isUnlocked: () => n > 1 },
        actions: { count: assign({ opened: n }) },
      }).createMachine({
        id: 'door',
        initial: 'closed',
        context: { opened: n },
        states: {
          closed: { on: { 'door.open': { target: 'open', guard: 'isUnlocked', actions: ['count'] } } },
          open: { on: { 'door.close': { target: '#door.closed' } } },
        },
      });
    const otherwise = setup({
      guards: { isUnlocked: () => true },
      actions: { count: () => undefined },
    }).createMachine({
      states: {
        open: { on: { 'door.close': 'closed' } },
        closed: {
          description: 'shut',
          on: { 'door.open': { actions: 'count', guard: 'isUnlocked', target: 'open' } },
        },
      },
      context: { opened: 7 },
      initial: 'closed',
      id: 'door',
    });
    expect(ofLogic(machine(1))).toBe(ofLogic(machine(2)));
    expect(ofLogic(otherwise)).toBe(ofLogic(machine(1)));
  });

  it.each<[string, Names]>([
    ['guard', { guard: 'isOpen' }],
    ['action', { action: 'countTwice' }],
    ['delay', { delay: 50 }],
    ['target', { target: 'closed' }],
    ['invoked actor', { src: 'bolt' }],
    ['tag', { tag: 'waiting' }],
    ['machine id', { id: 'gate' }],
    ['field of the context', { context: { opened: 0, locked: false } }],
    ['type in the context', { context: { opened: '0' } }],
  ])('is another one with another %s', (_, names) => {
    expect(ofLogic(door(names))).not.toBe(ofLogic(door()));
  });

  it('tells guards apart that are made of others', () => {
    const guarded = (guard: unknown) =>
      setup({ guards: { a: () => true, b: () => true } }).createMachine({
        initial: 'one',
        states: { one: { on: { go: { target: 'two', guard: guard as never } } }, two: {} },
      });
    const hashes = [
      and(['a', 'b']),
      and(['b', 'a']),
      not('a'),
      { type: 'a', params: { n: 1 } },
      { type: 'a', params: { n: 2 } },
    ].map((guard) => ofLogic(guarded(guard)));
    expect(new Set(hashes).size).toBe(hashes.length);
  });

  it('of a state without a machine is that of its schema: no version makes a difference', () => {
    const kept = (schema: z.ZodType, version?: string) => hashOf(agent(version).keepsState(schema));
    expect(kept(z.object({ a: z.int(), b: z.string() }))).toBe(
      kept(z.object({ b: z.string(), a: z.int() }), '2.0.0'),
    );
    expect(kept(z.object({ a: z.int().describe('how many') }))).toBe(kept(z.object({ a: z.int() })));
    expect(kept(z.object({ description: z.int() }))).not.toBe(kept(z.object({})));
    expect(kept(z.object({ a: z.int() }))).not.toBe(kept(z.object({ a: z.string() })));
  });

  it('of transition logic without a schema is that of its version', () => {
    const logic = fromTransition((n: number) => n + 1, 0);
    expect(hashOf(agent('1.0.0').logic(logic))).toBe(
      hashOf(agent('1.0.0').logic(fromTransition((n: number) => n, 1))),
    );
    expect(hashOf(agent('1.0.0').logic(logic))).not.toBe(hashOf(agent('1.0.1').logic(logic)));
    expect(hashOf(agent('1.0.0').logic(logic).keepsState(z.int()))).toBe(
      hashOf(agent('1.0.1').logic(logic).keepsState(z.int())),
    );
    expect(ofLogic(fromPromise(async () => 1))).toBeDefined();
  });
});
