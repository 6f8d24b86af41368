import { startSystem, type System } from 'orrery';
import { describe, expect, it } from 'vitest';
import { act } from '../fixtures/agents/member.ts';
import { agent, rejection } from '../fixtures/until.ts';

const NAMES = ['a', 'b', 'c'] as const;
type Name = (typeof NAMES)[number];
type Strategy = 'one-for-one' | 'one-for-all' | 'rest-for-one';
type Isolation = 'inline' | 'thread' | 'process';

/** Three agents that are supervised together, in this order. */
async function withGroup(
  strategy: Strategy,
  isolationOf: (at: number) => Isolation,
  run: (system: System) => Promise<void>,
): Promise<void> {
  const system = await startSystem({
    agents: NAMES.map((name, at) => agent('member', { instances: [name], isolation: isolationOf(at) })),
    supervision: {
      groups: [{ name: 'group', agents: [...NAMES], strategy }],
      backOff: { firstMs: 1, maxMs: 1 },
    },
  });
  try {
    await run(system);
  } finally {
    await system.stop();
  }
}

const life = (system: System, name: Name): Promise<string> =>
  system.ask({ agent: name, capability: act }, 'answer');

const lives = (system: System): Promise<string[]> => Promise.all(NAMES.map((name) => life(system, name)));

async function restartsOf(system: System): Promise<string[]> {
  return (await system.roster()).map(({ id, status, restarts }) => `${id} ${status} ${restarts}`);
}

function cancellation(): { signal: AbortSignal; abort: () => void } {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort() };
}

/** Has `culprit` die while all have something in hand; who was restarted is to be `restarted`. */
async function expectRestarted(
  system: System,
  culprit: Name,
  restarted: readonly Name[],
  die = async (): Promise<void> => {
    const died = await rejection(system.ask({ agent: culprit, capability: act }, 'crash'));
    expect(died.code).toBe('HANDLER_FAILED');
  },
): Promise<void> {
  const before = await lives(system);
  const others = NAMES.filter((name) => name !== culprit);
  const { signal, abort } = cancellation();
  const begun = others.map(() => Promise.withResolvers<void>());
  const inHand = others.map((name, at) => {
    const options = { timeoutMs: 60_000, signal, onProgress: () => begun[at]?.resolve() };
    return rejection(system.ask({ agent: name, capability: act }, 'wait', options));
  });
  // What only waits when its agent is restarted is given to the next actor.
  await Promise.all(begun.map(({ promise }) => promise));
  await die();
  const expected = NAMES.map((name) => `${name} running ${restarted.includes(name) ? 1 : 0}`);
  await expect.poll(() => restartsOf(system), { timeout: 100_000 }).toEqual(expected);
  // What a restart cut off is told by the agent's own thread: only the others are still in hand.
  await Promise.all(inHand.filter((_, at) => restarted.includes(others[at] as Name)));
  abort();
  const ends = await Promise.all(inHand);
  expect(ends.map(({ code }) => code)).toEqual(
    others.map((name) => (restarted.includes(name) ? 'ACTOR_DIED' : 'CANCELLED')),
  );
  const after = await lives(system);
  expect(NAMES.filter((_, at) => before[at] !== after[at])).toEqual([...restarted]);
}

const EXPECTED: readonly [Strategy, Name, readonly Name[]][] = [
  ['one-for-one', 'b', ['b']],
  ['one-for-all', 'b', ['a', 'b', 'c']],
  ['rest-for-one', 'b', ['b', 'c']],
  ['rest-for-one', 'a', ['a', 'b', 'c']],
];

/** Those in which agents before and after the culprit are restarted, or are not: what an isolation could do otherwise. */
const AROUND = EXPECTED.filter(([strategy, culprit]) => culprit === 'b' && strategy !== 'one-for-one');

describe.each([
  ['inline', EXPECTED],
  ['thread', AROUND],
  ['process', AROUND],
] as const)('A group of agents of isolation %s (C-36, F-06)', (isolation, expected) => {
  it.each(expected)('that is restarted %s: the death of %s restarts %s', (strategy, culprit, restarted) =>
    withGroup(
      strategy,
      () => isolation,
      (system) => expectRestarted(system, culprit, restarted),
    ),
  );
});

describe('A group of agents in an inline place, a thread and a process', () => {
  const MIXED = ['inline', 'thread', 'process'] as const;
  const isolationOf = (at: number): Isolation => MIXED[at] as Isolation;

  it.each(EXPECTED)('that is restarted %s: the death of %s restarts %s', (strategy, culprit, restarted) =>
    withGroup(strategy, isolationOf, (system) => expectRestarted(system, culprit, restarted)),
  );

  it('is restarted as a whole when the process of one of them is killed', () =>
    withGroup('one-for-all', isolationOf, (system) =>
      expectRestarted(system, 'c', ['a', 'b', 'c'], async () => {
        process.kill((await system.roster())[2]?.pid as number, 'SIGKILL');
      }),
    ));
});
