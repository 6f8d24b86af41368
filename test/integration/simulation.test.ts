import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it, vi } from 'vitest';
import { createMachine } from 'xstate';
import { z } from 'zod';
import { capability, defineAgent, refused, type System, type SystemEvent } from 'orrery';
import type { SwarmOutcome } from 'orrery/swarm';
import { CellOutcomes } from '../../runtime/cell/cell-outcomes.ts';
import { InFlow } from '../../runtime/mailbox/in-flow.ts';
import { type Faults, findFailure, type SimulateOptions, simulate } from 'orrery/simulate';
import { show } from '../fixtures/agents/additions.ts';
import { busyTeam } from '../fixtures/simulated-team.ts';
import { CONDITIONS } from '../fixtures/conditions.ts';

const execute = promisify(execFile);
const CARD = { version: '1.0.0', description: 'Works', tier: 2 } as const;
const work = capability({ id: 'test.work', description: 'Works', input: z.int(), output: z.unknown() });
const mars = () => defineAgent({ id: 'mars', name: 'MARS', ...CARD });

/** What a planted bug is found by, in how many seeds. */
async function problemsWithin(seeds: number, team: (seed: number) => SimulateOptions): Promise<string[]> {
  for (let seed = 1; seed <= seeds; seed++) {
    const { violations, ending } = await simulate(team(seed));
    if (violations.length > 0) return [...violations];
    if (ending !== 'quiet') return [ending];
  }
  return [];
}

describe('a simulated team (F-03)', () => {
  it('runs modules, and ends when its embedder is done and nothing is under way', async () => {
    const module = new URL('../fixtures/agents/additions.agent.ts', import.meta.url);
    const { value, ending, violations, finalState } = await simulate({
      agents: [{ module }],
      run: (team) => team.ask(show, undefined, { resumeFrom: 'here' }),
    });
    expect({ ending, violations }).toEqual({ ending: 'quiet', violations: [] });
    expect(value).toMatchObject({ resumeFrom: 'here' });
    expect(finalState?.roster).toHaveLength(1);
  });

  it('takes no real time for virtual hours', async () => {
    const { value, stats } = await simulate({
      agents: [mars().handle(work, (n) => n)],
      run: async (team, { sleep }) => {
        await sleep(600_000);
        return team.ask(work, 7);
      },
    });
    expect(value).toBe(7);
    expect(stats.virtualMs).toBeGreaterThan(600_000);
  });

  it('gives machines their delays in virtual time', async () => {
    const machine = createMachine({
      initial: 'idle',
      states: { idle: { tags: 'ready', on: { 'test.work': 'busy' } }, busy: { after: { 60000: 'idle' } } },
    });
    const { value, stats, error } = await simulate({
      agents: [
        defineAgent({ id: 'mars', name: 'MARS', handlingTimeoutMs: 120_000, ...CARD }).logic(machine, [work]),
      ],
      run: (team) => team.ask(work, 1, { timeoutMs: 100_000 }),
    });
    expect({ value, error }).toEqual({ value: undefined, error: undefined });
    expect(stats.virtualMs).toBeGreaterThan(60_000);
  });

  it('goes on until the time or the condition that is given', async () => {
    const agents = () => [
      mars().onStart(async (ctx) => {
        void (async () => {
          for (;;) await ctx.sleep(100);
        })();
      }),
    ];
    const byTime = await simulate({ agents: agents(), until: 5_000 });
    expect(byTime.ending).toBe('until');
    expect(byTime.stats.virtualMs).toBeGreaterThanOrEqual(5_000);
    const byCondition = await simulate({ agents: agents(), until: ({ nowMs }) => nowMs > 3_000 });
    expect(byCondition.ending).toBe('until');
    expect(byCondition.stats.virtualMs).toBeLessThan(4_000);
  });

  it('is given up after so many steps, or so long', async () => {
    const options = { agents: [mars().handle(work, () => new Promise<never>(() => undefined))] };
    const run = (team: System): Promise<unknown> => team.ask(work, 1, { timeoutMs: 20_000 });
    expect((await simulate({ ...options, run, maxMs: 1_000 })).ending).toBe('max-ms');
    expect((await simulate({ ...options, run, maxSteps: 120 })).ending).toBe('max-steps');
  });

  it('says what its embedder threw', async () => {
    const { error, ending } = await simulate({
      agents: [mars()],
      run: () => Promise.reject(new Error('no idea')),
    });
    expect(ending).toBe('quiet');
    expect(String(error)).toContain('no idea');
  });

  it('writes a trace as docs/trace.md has it', async () => {
    const result = await simulate({
      agents: [mars().handle(work, (n) => n)],
      seed: 5,
      run: (team) => team.ask(work, 7),
    });
    const [header, ...events] = result
      .trace()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(header).toMatchObject({ format: 'orrery-trace', version: 1, simulated: { seed: 5 } });
    expect(header.agents).toMatchObject([{ id: 'mars', place: 'worker-1' }]);
    const types = events.map(({ type }: SystemEvent) => type);
    for (const type of ['agent-started', 'message-sent', 'message-received', 'envelope-settled'])
      expect(types).toContain(type);
  });

  it('negotiates and swarms under crashes and partitions, and no sub-task has two results', async () => {
    const parts = ['text.a', 'text.b', 'text.c'].map((id) =>
      capability({ id, description: id, input: z.unknown(), output: z.string() }),
    );
    const member = (id: string) => {
      const agent = defineAgent({ id, name: id, delivery: 'retry', ...CARD });
      for (const part of parts)
        agent.handle(part, async (_, ctx) => {
          await ctx.sleep(ctx.random() * 50);
          return `${part.id} by ${id}`;
        });
      return agent;
    };
    const faults: Faults = { ...busyTeam(1).faults, handler: { probability: 0.05 } };
    for (let seed = 1; seed <= 25; seed++) {
      const completed = new Map<string, string>();
      const wrong: string[] = [];
      const result = await simulate({
        agents: ['io', 'triton', 'europa'].map(member),
        seed,
        faults,
        supervision: { intensity: { maxRestarts: 100 } },
        invariants: [() => wrong[0]],
        run: async (team) => {
          team.swarms.onChange(({ subTasks }) => {
            for (const { id, result: came } of subTasks) {
              if (came === undefined) continue;
              const known = completed.get(id);
              if (known !== undefined && known !== String(came)) wrong.push(`${id} has two results`);
              completed.set(id, String(came));
            }
          });
          const { id } = await team.swarms.createSwarm(
            'Work',
            parts.map((part) => part.id),
          );
          return team.swarms.outcome(id);
        },
      });
      expect({ seed, violations: result.violations, ending: result.ending, error: result.error }).toEqual({
        seed,
        violations: [],
        ending: 'quiet',
        error: undefined,
      });
    }
  });

  it('gives a sub-task that all fail to each of them once, and has the swarm say why it ends (N-8.6)', async () => {
    const part = capability({ id: 'text.a', description: 'Fails', input: z.unknown(), output: z.string() });
    const failing = (id: string) =>
      defineAgent({ id, name: id, ...CARD }).handle(part, async (_, ctx) => {
        await ctx.sleep(ctx.random() * 20);
        throw refused(`${id} cannot`);
      });
    for (let seed = 1; seed <= 10; seed++) {
      const { value, violations, ending } = await simulate({
        agents: ['io', 'triton'].map(failing),
        seed,
        maxSteps: 4_000,
        run: async ({ swarms }) => {
          const { id } = await swarms.createSwarm('Work', [part.id]);
          return swarms.outcome(id);
        },
      });
      expect({ violations, ending }).toEqual({ violations: [], ending: 'quiet' });
      const { status, subTasks } = value as SwarmOutcome;
      expect(status).toBe('failed');
      expect(subTasks[0]).toMatchObject({ status: 'failed', error: { code: 'REFUSED' } });
      expect(subTasks[0]?.assignments.map(({ agentId }) => agentId).sort()).toEqual(['io', 'triton']);
    }
  });

  it('is the same in another process', async () => {
    const script = fileURLToPath(new URL('../fixtures/simulate-in-process.ts', import.meta.url));
    const hashes = await Promise.all(
      [1, 2].map(async () => {
        const { stdout } = await execute(process.execPath, [...CONDITIONS, script, '11', '12']);
        return stdout.trim().split('\n');
      }),
    );
    const here = [(await simulate(busyTeam(11))).traceHash, (await simulate(busyTeam(12))).traceHash];
    expect(hashes).toEqual([here, here]);
  });
});

describe('what agents reach outside, in a simulation (F-03)', () => {
  it('effects come to what is said, with the input of the envelope', async () => {
    const agent = mars().handle(work, (_, ctx) =>
      ctx.effect('price', () => Promise.reject(new Error('real'))),
    );
    const { value, effects } = await simulate({
      agents: [agent],
      effects: { price: (input, random) => ({ input, isRandom: random() < 1 }) },
      run: (team) => team.ask(work, 7),
    });
    expect(value).toEqual({ input: 7, isRandom: true });
    expect(effects).toMatchObject([{ name: 'price', agentId: 'mars', input: 7 }]);
  });

  it('an effect that fails fails the handler, and one that nobody answers ends the simulation', async () => {
    const agent = () => mars().handle(work, (_, ctx) => ctx.effect('price', () => 1));
    const failing = await simulate({
      agents: [agent()],
      effects: {
        price: () => {
          throw new Error('no price');
        },
      },
      run: (team) => team.ask(work, 7).catch((error) => error.code),
    });
    expect(failing.value).toBe('HANDLER_FAILED');
    await expect(simulate({ agents: [agent()], run: (team) => team.ask(work, 7) })).rejects.toMatchObject({
      code: 'INVALID_OPTIONS',
      details: { field: 'effects.price' },
    });
  });

  it('offloaded modules run for real while time stands still, once for the same input', async () => {
    const module = new URL('../fixtures/offload/double.ts', import.meta.url);
    const remembered = new Map<string, unknown>();
    const options: SimulateOptions = {
      agents: [mars().handle(work, (value, ctx) => ctx.offload(module, { value }))],
      remembered,
      run: (team) => team.ask(work, 21),
    };
    const [one, again] = [await simulate(options), await simulate(options)];
    expect([one.value, again.value]).toEqual([42, 42]);
    expect(again.traceHash).toBe(one.traceHash);
    expect(remembered.size).toBe(1);
    const instead = await simulate({
      ...options,
      offload: (url, input) => [url.pathname.split('/').at(-1), input],
    });
    expect(instead.value).toEqual(['double.ts', { value: 21 }]);
  });

  it('refuses options that are none, by their name', async () => {
    const refusal = async (options: unknown): Promise<unknown> =>
      simulate(options as SimulateOptions).then(
        () => undefined,
        (error) => error.details.field,
      );
    expect(await refusal({ agents: [], seed: 0.5 })).toBe('options.seed');
    expect(await refusal({ agents: [], faults: { crash: { probability: 2 } } })).toBe(
      'options.faults.crash.probability',
    );
    expect(await refusal({ agents: ['mars'] })).toBe('agents.0');
    expect(await refusal({ agents: [], sead: 1 })).toBe('options.sead');
    const cause = simulate({
      agents: [],
      run: (_, { cause: now }) => now({ fault: 'crash', place: 'nowhere' }),
    });
    expect((await cause).error).toMatchObject({ code: 'INVALID_OPTIONS', details: { field: 'place' } });
  });
});

describe('bugs that a simulation finds (F-03)', () => {
  it('an envelope whose outcome is not settled', async () => {
    const real = InFlow.prototype.settle;
    let count = 0;
    const planted = vi.spyOn(InFlow.prototype, 'settle').mockImplementation(function (
      this: InFlow,
      ...given
    ) {
      count += 1;
      if (count % 150 !== 0) real.apply(this, given);
    });
    try {
      expect(await problemsWithin(5, (seed) => ({ ...busyTeam(seed, {}), maxMs: 60_000 }))).toEqual([
        'max-ms',
      ]);
    } finally {
      planted.mockRestore();
    }
  });

  it('an outcome that is counted twice', async () => {
    const real = InFlow.prototype.commit;
    const planted = vi.spyOn(InFlow.prototype, 'commit').mockImplementation(function (
      this: InFlow,
      ...given
    ) {
      real.apply(this, given);
      given[2].handled += 1;
    });
    try {
      expect(await problemsWithin(5, (seed) => busyTeam(seed, {}))).toContainEqual(
        expect.stringMatching(/accepted and have/),
      );
    } finally {
      planted.mockRestore();
    }
  });

  it('a beginning that is not marked, so that a death has it begun again', async () => {
    const planted = vi.spyOn(InFlow.prototype, 'start').mockImplementation(() => undefined);
    try {
      const team = (seed: number): SimulateOptions => ({
        ...busyTeam(seed, { crash: { probability: 0.01, most: 6 } }),
        maxMs: 60_000,
      });
      expect(await problemsWithin(20, team)).toContainEqual(expect.stringMatching(/begun twice/));
    } finally {
      planted.mockRestore();
    }
  });

  it('a second attempt that is not recognised, which counts what it asks for twice', async () => {
    const count = capability({ id: 'test.count', description: 'Counts', input: z.int(), output: z.int() });
    const search = (): ReturnType<typeof findFailure> =>
      findFailure({
        simulation: () => {
          let counted = 0;
          let asked = 0;
          return {
            agents: [
              defineAgent({ id: 'counter', name: 'COUNTER', ...CARD }).handle(count, (n) => {
                counted += n;
                return counted;
              }),
              defineAgent({ id: 'shop', name: 'SHOP', delivery: 'retry', ...CARD }).handle(
                work,
                async (n, ctx) => {
                  if (ctx.envelope.id !== '') asked = Math.max(asked, n);
                  await ctx.ask(count, 1);
                  await ctx.sleep(10);
                  return null;
                },
              ),
            ],
            // Each order is numbered; however often it is tried, it is to be counted once.
            invariants: [() => (counted > asked ? `${counted} counted of ${asked}` : undefined)],
          };
        },
        commands: { order: { run: (team) => team.ask(work, 1) } },
        breaking: ['crash'],
        mostCommands: 3,
        runs: 60,
      });
    const planted = vi.spyOn(CellOutcomes.prototype, 'settleRepeated').mockImplementation(() => false);
    try {
      const failure = await search();
      expect(failure?.problems[0]).toMatch(/counted of/);
      expect(failure?.isReproducible).toBe(true);
      expect(failure?.report).toContain(`Seed ${failure?.seed} breaks it`);
    } finally {
      planted.mockRestore();
    }
  });
});

describe('the search for failures (F-03)', () => {
  it('finds none in a team that is as it should be, though its asks fail when threads crash', async () => {
    const [outer, inner] = ['outer', 'inner'].map((name) =>
      capability({ id: `test.${name}`, description: 'Asks', input: z.int(), output: z.int() }),
    ) as [typeof work, typeof work];
    let failed = 0;
    const failure = await findFailure({
      simulation: () => ({
        agents: [
          mars().handle(outer, (n, ctx) => ctx.ask(inner, n)),
          defineAgent({ id: 'venus', name: 'VENUS', ...CARD }).handle(inner, async (n, ctx) => {
            await ctx.sleep(5);
            return n;
          }),
        ],
      }),
      commands: {
        ask: {
          run: (team) =>
            team.ask(outer, 1).catch((error: unknown) => {
              failed += 1;
              throw error;
            }),
        },
      },
      runs: 30,
    });
    expect(failure?.report).toBeUndefined();
    expect(failed).toBeGreaterThan(0);
  });
});
