import { type AgentDefinition, defineAgent, type Snapshot as SnapshotOf } from 'orrery';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { assign, setup } from 'xstate';
import { z } from 'zod';
import { LogicRunner } from '../../runtime/agent/logic-runner.ts';
import type { Cell } from '../../runtime/cell/cell.ts';
import { isOrreryError } from '../../runtime/protocol/errors.ts';
import { JournalledStates } from '../../runtime/thread/journalled-states.ts';
import { notRestored, restore } from '../../runtime/upgrade/restore.ts';
import { takeSnapshot } from '../../runtime/upgrade/take-snapshot.ts';
import { times } from '../fixtures/effort.ts';
import { FakeClock } from '../fixtures/fake-clock.ts';
import { arbDamaged, arbTorn } from './arbitraries/damage.ts';

const RUNS = { numRuns: times(300, 10_000) };

const Ledger = z.object({ n: z.int(), names: z.array(z.string()), by: z.record(z.string(), z.number()) });
const agent = (version: string) =>
  defineAgent({ id: 'keeper', name: 'KEEPER', version, description: 'Keeps', tier: 2 });
const door = setup({
  types: { context: {} as { passed: number } },
  delays: { patience: 30 },
  actions: { pass: assign({ passed: ({ context }) => context.passed + 1 }) },
}).createMachine({
  id: 'door',
  context: { passed: 0 },
  initial: 'shut',
  states: {
    shut: { on: { open: 'open' } },
    open: {
      after: { patience: 'shut' },
      on: { pass: { actions: 'pass' } },
      initial: 'wide',
      states: { wide: {}, ajar: {} },
    },
  },
});
const keeper = agent('1.0.0').keepsState(Ledger) as unknown as AgentDefinition<unknown>;
const doorman = agent('1.0.0').logic(door) as unknown as AgentDefinition<unknown>;
const clock = new FakeClock();
const handling = { isOver: false, settle: () => undefined } as never;
const deps = { clock, onError: () => undefined, onDone: () => undefined };

function openDoor(): unknown {
  const runner = new LogicRunner(door, undefined, deps);
  runner.handle('open', undefined, handling);
  const left = runner.leave();
  runner.stop();
  return left?.state;
}

const snapshotOf = (definition: AgentDefinition<unknown>, state: unknown): SnapshotOf =>
  takeSnapshot(definition, { state }, { agentId: 'keeper', atMs: 5 }) as SnapshotOf;
const OF_KEEPER = snapshotOf(keeper, { n: 1, names: ['a', 'b'], by: { a: 1 } });
const OF_DOORMAN = snapshotOf(doorman, openDoor());

/** What a thread makes of a record that the journal has of a state: the snapshot, or why it is none. */
function remembered(value: unknown): { snapshot?: SnapshotOf; problem?: unknown } {
  const found: { snapshot?: SnapshotOf; problem?: unknown } = {};
  const states = new JournalledStates({
    write: () => undefined,
    onProblem: (_agentId, error) => {
      found.problem = error;
    },
  });
  const cell = {
    row: { id: 'keeper' },
    client: { records: { takeLeft: () => [{ value }] } },
  } as unknown as Cell;
  states.remember(cell);
  const snapshot = states.leftBy(cell);
  if (snapshot !== undefined) found.snapshot = snapshot;
  return found;
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

describe('a snapshot of which something was changed', () => {
  const arbBroken = fc.oneof(
    arbDamaged(fc.constantFrom(OF_KEEPER, OF_DOORMAN)),
    arbTorn(fc.constantFrom(JSON.stringify(OF_KEEPER), JSON.stringify(OF_DOORMAN))).map(parsed),
  );

  it('is one still, or is refused with what field it is that does not fit', () => {
    fc.assert(
      fc.property(arbBroken, (value) => {
        const { snapshot, problem } = remembered(value);
        if (snapshot !== undefined) return;
        if (!isOrreryError(problem)) throw problem;
        expect(problem.code).toBe('SNAPSHOT_UNKNOWN');
        expect(problem.message).toMatch(
          /(?:state|machineId|version|hash|agentId|atMs|taint|unheard-of|it)[^ ]* is /,
        );
      }),
      RUNS,
    );
  });

  it.each([
    ['of handlers', keeper, OF_KEEPER],
    ['of a machine', doorman, OF_DOORMAN],
  ])('%s begins a life that is sound, or parks the agent and says why', (_of, definition, whole) => {
    const arbSnapshot = fc.oneof(
      arbDamaged(fc.constant(whole)),
      arbDamaged(fc.constant(whole.state)).map((state) => ({ ...whole, state })),
    );
    fc.assert(
      fc.property(arbSnapshot, (value) => {
        const { snapshot } = remembered(value);
        if (snapshot === undefined) return;
        const restored = restore(definition, snapshot);
        if ('parked' in restored) {
          expect(restored.parked.code).toBe('SNAPSHOT_UNKNOWN');
          expect(restored.parked.message).not.toMatch(/undefined|\[object/);
          return;
        }
        if (definition === keeper) {
          expect(Ledger.safeParse(restored.state).success).toBe(true);
          return;
        }
        let runner: LogicRunner;
        try {
          runner = new LogicRunner(door, undefined, deps, restored);
        } catch (error) {
          // The actor parks the agent then, too.
          expect(notRestored(definition, snapshot, error).code).toBe('SNAPSHOT_UNKNOWN');
          return;
        }
        for (const event of ['open', 'pass', 'nonsense']) runner.handle(event, undefined, handling);
        runner.leave();
        runner.stop();
      }),
      RUNS,
    );
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });
});
