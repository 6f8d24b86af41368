import { type AgentDefinition, defineAgent, type Snapshot } from 'orrery';
import { describe, expect, it } from 'vitest';
import { fromPromise, setup } from 'xstate';
import { z } from 'zod';
import { restore } from '../../../runtime/upgrade/restore.ts';
import { stateIdentity } from '../../../runtime/upgrade/state-identity.ts';
import { takeSnapshot } from '../../../runtime/upgrade/take-snapshot.ts';

const agent = (version: string) =>
  defineAgent({ id: 'adder', name: 'ADDER', version, description: 'Adds', tier: 2 });
const Named = z.object({ n: z.int(), name: z.string().default('nobody') });

const snapshotOf = (definition: AgentDefinition<never> | AgentDefinition, state: unknown): Snapshot =>
  takeSnapshot(definition as AgentDefinition<unknown>, { state }, { agentId: 'adder', atMs: 5 }) as Snapshot;
const restored = (definition: AgentDefinition<never> | AgentDefinition, snapshot: Snapshot) =>
  restore(definition as AgentDefinition<unknown>, snapshot);
/** Why it is parked. */
function whyParked(definition: AgentDefinition<never> | AgentDefinition, snapshot: Snapshot): string {
  const result = restored(definition, snapshot);
  if (!('parked' in result)) throw new Error(`it has the state ${JSON.stringify(result.state)}`);
  expect(result.parked.code).toBe('SNAPSHOT_UNKNOWN');
  const { machineId, version, hash } = snapshot;
  expect(result.parked.details).toMatchObject({
    agentId: 'adder',
    from: { machineId, version, hash },
    to: stateIdentity(definition as AgentDefinition<unknown>),
  });
  return String(result.parked.details['reason']);
}

const first = agent('1.0.0').keepsState(z.int());
const second = () => agent('2.0.0').keepsState(z.object({ n: z.int() }));
const third = () => agent('3.0.0').keepsState(Named);

describe('A snapshot', () => {
  it('is taken as data that shares nothing with the actor', () => {
    const state = { n: 1, at: undefined };
    const snapshot = snapshotOf(second(), state);
    expect(snapshot).toEqual({
      agentId: 'adder',
      machineId: 'adder',
      version: '2.0.0',
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      state: { n: 1 },
      atMs: 5,
    });
    state.n = 2;
    expect(snapshot.state).toEqual({ n: 1 });
  });

  it('is none of an agent that keeps no state, and none of what JSON cannot say', () => {
    expect(snapshotOf(agent('1.0.0'), { n: 1 })).toBeUndefined();
    for (const state of [undefined, new Map(), { at: [Number.NaN] }, { at: 1n }])
      expect(() => snapshotOf(second(), state)).toThrow(
        expect.objectContaining({ code: 'NOT_SERIALISABLE' }),
      );
    expect(() => snapshotOf(second(), { at: [1, Number.NaN] })).toThrow(/state\.at\[1\] holds NaN/);
  });

  it('of a state of the same kind is restored as it is, whatever the version', () => {
    const snapshot = snapshotOf(second(), { n: 1, more: true });
    const newer = agent('2.7.0').keepsState(z.object({ n: z.int() }));
    const result = restored(newer, snapshot);
    expect(result).toEqual({ state: { n: 1, more: true } });
    expect((result as { state: unknown }).state).not.toBe(snapshot.state);
  });

  it('of the same kind that is damaged parks its agent, and says which field it is', () => {
    const damaged = { ...snapshotOf(second(), { n: 1 }), state: { n: 'many' } };
    expect(whyParked(agent('2.7.0').keepsState(z.object({ n: z.int() })), damaged)).toMatch(
      /^it does not fit: n is "many", expected /,
    );
  });

  it('of the same kind is not held against a schema that changes what it is given', () => {
    const doubled = () => agent('1.0.0').keepsState(z.int().transform((n) => String(n)));
    expect(restored(doubled(), snapshotOf(doubled(), '4'))).toEqual({ state: '4' });
    const defaults = () =>
      agent('1.0.0').keepsState(z.object({ n: z.int().default(3), m: z.string().trim() }));
    expect(
      whyParked(defaults(), { ...snapshotOf(defaults(), { n: 1, m: '' }), state: { n: 1, m: 2 } }),
    ).toMatch(/m is 2/);
  });

  it('of another kind is migrated, by as many migrations as it takes', () => {
    const migrated = third()
      .migrate('2.x', ({ n }: { n: number }) => ({ n, name: 'two' }))
      .migrate('1.x', (n: number) => ({ n: n * 10 }), { to: '2.0.0' });
    expect(restored(migrated, snapshotOf(second(), { n: 1 }))).toEqual({ state: { n: 1, name: 'two' } });
    expect(restored(migrated, snapshotOf(first, 4))).toEqual({ state: { n: 40, name: 'two' } });
  });

  it('takes the shortest way, and of two the one that was declared first', () => {
    const straight = third()
      .migrate('1.x', () => ({ n: 0 }), { to: '2.0.0' })
      .migrate('2.x', () => ({ n: 1 }))
      .migrate('1.0.0', () => ({ n: 2, name: 'straight' }))
      .migrate('^1', () => ({ n: 3, name: 'later' }));
    expect(restored(straight, snapshotOf(first, 4))).toEqual({ state: { n: 2, name: 'straight' } });
  });

  it('is migrated from its own version when that was another kind then', () => {
    const again = agent('1.0.0')
      .keepsState(z.object({ n: z.int() }))
      .migrate('1.0.0', (n: number) => ({ n }));
    expect(restored(again, snapshotOf(first, 4))).toEqual({ state: { n: 4 } });
  });

  it('is given to each migration with what it was the state of', () => {
    const seen: unknown[] = [];
    const looking = second().migrate('*', (n: number, { version, machineId, agentId, atMs }) => {
      seen.push([n, version, machineId, agentId, atMs]);
      return { n };
    });
    restored(looking, snapshotOf(first, 4));
    expect(seen).toEqual([[4, '1.0.0', 'adder', 'adder', 5]]);
  });

  it('has what its schema makes of what a migration returned', () => {
    expect(
      restored(
        third().migrate('1.x', (n: number) => ({ n, extra: 1 })),
        snapshotOf(first, 4),
      ),
    ).toEqual({
      state: { n: 4, name: 'nobody' },
    });
  });

  it('is not changed by a migration that fails half-way', () => {
    const snapshot = snapshotOf(second(), { n: 1 });
    const spoiling = third().migrate('2.x', (state: { n: number }) => {
      state.n = 99;
      throw new Error('half-way');
    });
    expect(whyParked(spoiling, snapshot)).toBe('the migration from 2.x to 3.0.0 failed: half-way');
    expect(snapshot.state).toEqual({ n: 1 });
  });
});

describe('A snapshot that nobody can go on with says why', () => {
  it('no migration, or one that leads nowhere', () => {
    expect(whyParked(third(), snapshotOf(first, 4))).toBe('no migration leads from 1.0.0 to 3.0.0');
    const short = third().migrate('1.x', (n: number) => n, { to: '2.0.0' });
    expect(whyParked(short, snapshotOf(first, 4))).toBe('no migration leads from 1.0.0 to 3.0.0');
    const circle = third()
      .migrate('1.x', (n: number) => n, { to: '2.0.0' })
      .migrate('2.x', (n: number) => n, { to: '1.0.0' });
    expect(whyParked(circle, snapshotOf(first, 4))).toBe('no migration leads from 1.0.0 to 3.0.0');
  });

  it('code that keeps no state', () => {
    expect(whyParked(agent('3.0.0'), snapshotOf(first, 4))).toBe('nothing takes it over');
  });

  it('a state that does not fit its schema', () => {
    expect(
      whyParked(
        third().migrate('*', () => ({ n: 'many' })),
        snapshotOf(first, 4),
      ),
    ).toMatch(
      /^what the migration from \* to 3\.0\.0 made of it does not fit: n is "many", expected a number$/,
    );
  });

  it('a promise instead of a state', () => {
    expect(
      whyParked(
        third().migrate('*', async (n: number) => ({ n })),
        snapshotOf(first, 4),
      ),
    ).toContain('returned a promise');
  });
});

describe('The state of a machine', () => {
  const logic = setup({
    types: { context: {} as { n: number } },
    delays: { soon: 40, byCount: ({ context }) => context.n * 10 },
    actors: { fetch: fromPromise(async () => 1) },
  }).createMachine({
    id: 'machine',
    context: { n: 0 },
    initial: 'resting',
    states: {
      resting: {},
      working: {
        initial: 'slow',
        states: { slow: { after: { soon: 'fast' } }, fast: { after: { byCount: 'slow', 7: 'slow' } } },
      },
      fetching: { invoke: { src: 'fetch', id: 'fetching' } },
    },
  });
  const machine = (make: (state: unknown) => unknown) => agent('2.0.0').logic(logic).migrate('1.x', make);
  const before = snapshotOf(first, 4);

  it('needs no more than a value: its inner states are the initial ones, its delays begin', () => {
    expect(
      restored(
        machine(() => ({ value: 'working' })),
        before,
      ),
    ).toEqual({
      state: {
        value: { working: 'slow' },
        context: {},
        status: 'active',
        children: {},
        historyValue: {},
        timers: [
          {
            id: 'xstate.after.soon.machine.working.slow',
            event: { type: 'xstate.after.soon.machine.working.slow' },
            delayMs: 40,
          },
        ],
      },
    });
  });

  it('has delays of numbers and of functions', () => {
    const result = restored(
      machine((n) => ({ value: { working: 'fast' }, context: { n } })),
      before,
    ) as { state: { timers: { delayMs: number }[] } };
    expect(result.state.timers.map(({ delayMs }) => delayMs).sort()).toEqual([40, 7]);
  });

  it('keeps the delays that a migration says', () => {
    const timers = [{ id: 'later', event: { type: 'go' }, delayMs: 3 }];
    expect(
      restored(
        machine(() => ({ value: 'working', timers })),
        before,
      ),
    ).toMatchObject({ state: { timers } });
  });

  it.each([
    ['a state that there is not', { value: 'gone' }, /'gone'/],
    ['an inner one', { value: { working: 'gone' } }, /'gone'/],
    ['no value', { context: {} }, /no state of a machine/],
    ['a state that is over', { value: 'resting', status: 'done' }, /no state of a machine/],
    ['what is invoked without a child', { value: 'fetching' }, /"machine\.fetching" invokes "fetching"/],
  ])('is parked with %s', (_, state, reason) => {
    expect(
      whyParked(
        machine(() => state),
        before,
      ),
    ).toMatch(reason);
  });

  it('has its context held against the schema', () => {
    const strict = machine((n) => ({ value: 'resting', context: { n: String(n) } })).keepsState(
      z.object({ n: z.int() }),
    );
    expect(whyParked(strict, before)).toContain('n is ');
  });
});

describe('What a definition says of its state', () => {
  it.each([
    ['keepsState', () => agent('1.0.0').keepsState({} as never)],
    ['keepsState', () => agent('1.0.0').keepsState(z.int()).keepsState(z.int())],
    ['from', () => agent('1.0.0').migrate('', () => 1)],
    ['the migration from 1.x', () => agent('1.0.0').migrate('1.x', 1 as never)],
    ['to', () => agent('1.0.0').migrate('1.x', () => 1, { to: '' })],
  ])('is refused, naming %s', (field, define) => {
    expect(define).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTIONS', message: expect.stringContaining(`${field} is `) }),
    );
  });
});
