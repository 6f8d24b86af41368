import { describe, expect, it } from 'vitest';
import { defineAgent } from 'orrery';
import { type SimulateOptions, type SimulationControls, simulate } from 'orrery/simulate';
import { CARD, to, work } from '../fixtures/simulated-work.ts';

describe('a simulated process with a journal (F-01, F-03)', () => {
  it('runs its program again when it was killed, and goes on with what was kept', async () => {
    const handled: number[] = [];
    const mars = defineAgent({ id: 'mars', name: 'MARS', delivery: 'retry', ...CARD }).handle(
      work,
      async (n, ctx) => {
        await ctx.sleep(5);
        handled.push(n);
        return n;
      },
    );
    const lives: number[] = [];
    const { value, stats, violations, ending } = await simulate({
      agents: [mars],
      journal: true,
      maxSteps: 50_000,
      run: async (team, { life, cause, sleep }) => {
        lives.push(life);
        if (life === 3) return 'the third';
        for (let n = 0; n < 10; n++) team.tell(to('mars'), 10 * life + n);
        await team.whenKept();
        cause({ fault: 'hostCrash' });
        await sleep(60_000);
        return 'never';
      },
    });
    expect({ value, lives, violations, ending }).toEqual({
      value: 'the third',
      lives: [1, 2, 3],
      violations: [],
      ending: 'quiet',
    });
    expect(stats).toMatchObject({ lives: 3, faults: { hostCrash: 2 } });
    expect([...new Set(handled)]).toEqual([...Array(20).keys()].map((at) => at + 10));
  });

  it('gives thousands of waiting envelopes in their order, before what is newer', async () => {
    const handled: number[] = [];
    const mars = defineAgent({ id: 'mars', name: 'MARS', mailboxCapacity: 5_000, ...CARD }).handle(
      work,
      async (n, ctx) => {
        if (handled.length === 0) await ctx.sleep(50);
        handled.push(n);
        return n;
      },
    );
    const { violations, ending } = await simulate({
      agents: [mars],
      journal: true,
      maxSteps: 50_000,
      seed: 7,
      run: async (team, { life, cause, sleep }) => {
        for (let n = 0; n < (life === 1 ? 1_300 : 10); n++) team.tell(to('mars'), life * 10_000 + n);
        await team.whenKept();
        if (life > 1) return;
        cause({ fault: 'hostCrash' });
        await sleep(60_000);
      },
    });
    expect({ violations, ending }).toEqual({ violations: [], ending: 'quiet' });
    // The first one was in hand when the process ended: it is told of, not started again.
    expect(handled.slice(-1_309)).toEqual([
      ...Array.from({ length: 1_299 }, (_, at) => 10_001 + at),
      ...Array.from({ length: 10 }, (_, at) => 20_000 + at),
    ]);
  });

  it('gives the rest of what was left when the thread dies that was at it, before what is newer', async () => {
    for (const delivery of ['once', 'retry'] as const) {
      const handled: number[] = [];
      const mars = defineAgent({
        id: 'mars',
        name: 'MARS',
        mailboxCapacity: 5_000,
        delivery,
        ...CARD,
      }).handle(work, async (n, ctx) => {
        await ctx.sleep(1);
        handled.push(n);
        return n;
      });
      const { violations, ending, finalState } = await simulate({
        agents: [mars],
        journal: true,
        maxSteps: 50_000,
        run: async (team, { life, cause, sleep, view }) => {
          for (let n = 0; n < (life === 1 ? 1_300 : 10); n++) team.tell(to('mars'), life * 10_000 + n);
          await team.whenKept();
          if (life === 1) cause({ fault: 'hostCrash' });
          await sleep(300);
          cause({ fault: 'crash', place: view.agent('mars')?.place as string });
          await sleep(10_000);
        },
      });
      expect({ violations, ending }).toEqual({ violations: [], ending: 'quiet' });
      const told = finalState?.deadLetters.map(({ envelope }) => envelope?.payload as number) ?? [];
      // Both that were in hand, and what was settled within the last five milliseconds.
      expect(told.length).toBeLessThanOrEqual(delivery === 'once' ? 2 + 5 : 0);
      const expected = [
        ...Array.from({ length: 1_300 }, (_, at) => 10_000 + at),
        ...Array.from({ length: 10 }, (_, at) => 20_000 + at),
      ];
      // What was handled within those milliseconds is told as well.
      const isNotTold = (n: number): boolean => !told.includes(n);
      expect([...new Set(handled)].filter(isNotTold)).toEqual(expected.filter(isNotTold));
    }
  });

  it('gives up an envelope over which the process ends three times', async () => {
    let controls: SimulationControls | undefined;
    let begun = 0;
    const bomb = defineAgent({ id: 'bomb', name: 'BOMB', delivery: 'retry', ...CARD }).handle(
      work,
      async (n, ctx) => {
        begun += 1;
        controls?.cause({ fault: 'hostCrash' });
        await ctx.sleep(1_000);
        return n;
      },
    );
    const { finalState, stats, violations } = await simulate({
      agents: [bomb],
      journal: true,
      maxSteps: 50_000,
      maxMs: 60_000,
      run: async (team, given) => {
        controls = given;
        if (given.life === 1) team.tell(to('bomb'), 1);
        await team.whenKept();
      },
    });
    expect({ begun, lives: stats.lives, violations }).toEqual({ begun: 3, lives: 4, violations: [] });
    expect(finalState?.deadLetters).toMatchObject([{ recipient: 'bomb', code: 'POISON' }]);
  });

  it('keeps what the embedder keeps, and forgets without a journal what it had', async () => {
    const kept = (journal: boolean) =>
      simulate({
        agents: [],
        ...(journal ? { journal: { durable: 'all' } as const } : {}),
        faults: { planned: [{ fault: 'hostCrash', atMs: 1_000, powerLoss: true }] },
        run: async (team, { life, sleep, view }) => {
          if (!journal) return sleep(2_000).then(() => [life, view.lives]);
          if (life === 1) await team.records.put('mission', 'a', { done: true });
          await sleep(2_000);
          return team.records.list('mission');
        },
      });
    expect((await kept(true)).value).toEqual([{ key: 'a', value: { done: true } }]);
    expect((await kept(false)).value).toEqual([2, 2]);
  });

  it('refuses what could not be kept while the disk is full, takes no longer than it, and loses nothing', async () => {
    const mars = defineAgent({ id: 'mars', name: 'MARS', ...CARD }).handle(work, (n) => n);
    const { value, violations, stats, events } = await simulate({
      agents: [mars],
      journal: true,
      maxSteps: 50_000,
      run: async (team, { cause, sleep, view }) => {
        cause({ fault: 'fullDisk', ms: 2_000 });
        const first = team.tell(to('mars'), 1);
        await sleep(1_000);
        const refused = team.tell(to('mars'), 2);
        const waiting = view.kept;
        await team.whenKept();
        const keptAtMs = view.nowMs;
        return { first, refused, waiting, keptAtMs, again: team.tell(to('mars'), 3) };
      },
    });
    expect(value).toMatchObject({
      first: { delivered: true },
      refused: { delivered: false, errorCode: 'STORE_FAILED' },
      waiting: 0,
      again: { delivered: true },
    });
    const { keptAtMs } = value as { keptAtMs: number };
    expect(keptAtMs).toBeGreaterThan(2_000);
    expect(keptAtMs).toBeLessThan(6_000);
    expect({ violations, handled: stats.handled }).toEqual({ violations: [], handled: 2 });
    expect(events.filter(({ type }) => type === 'fault')).toMatchObject([
      { place: 'journal', reason: 'the disk is full' },
    ]);
  });

  it('starts again as soon as the disk has room when it was killed on a full one', async () => {
    const mars = defineAgent({ id: 'mars', name: 'MARS', delivery: 'retry', ...CARD }).handle(work, (n) => n);
    const { value, stats, violations, events } = await simulate({
      agents: [mars],
      journal: true,
      maxSteps: 50_000,
      faults: { hostCrash: { probability: 0, downMs: [50, 50] } },
      run: async (team, { life, cause, sleep }) => {
        if (life > 1) return 'up';
        team.tell(to('mars'), 1);
        await team.whenKept();
        cause({ fault: 'fullDisk', ms: 3_000 });
        cause({ fault: 'hostCrash' });
        await sleep(60_000);
        return undefined;
      },
    });
    expect({ value, violations }).toEqual({ value: 'up', violations: [] });
    expect(stats.lives).toBeGreaterThan(3);
    expect(events).toContainEqual(
      expect.objectContaining({ reason: 'the process could not start: the disk is full' }),
    );
  });

  it('waits for a slow disk, and nobody begins before it has written', async () => {
    let begunAtMs = 0;
    const mars = defineAgent({ id: 'mars', name: 'MARS', ...CARD }).handle(work, (n, ctx) => {
      begunAtMs = ctx.now();
      return n;
    });
    const { value, stats } = await simulate({
      agents: [mars],
      journal: true,
      maxSteps: 50_000,
      run: async (team, { cause, clock }) => {
        cause({ fault: 'slowDisk', ms: 1_500 });
        const startMs = clock.now();
        await team.ask(work, 1);
        return begunAtMs - startMs;
      },
    });
    expect(value).toBeGreaterThanOrEqual(1_500);
    expect(stats.faults).toMatchObject({ slowDisk: 1, fullDisk: 0 });
  });

  it('has a handler begin again whose thread dies before what it sent is kept', async () => {
    const booked: number[] = [];
    const books = defineAgent({ id: 'books', name: 'BOOKS', ...CARD }).handle(work, (n) => {
      booked.push(n);
      return n;
    });
    const mars = defineAgent({ id: 'mars', name: 'MARS', delivery: 'retry', ...CARD, durable: false }).on(
      'notification',
      (_envelope, ctx) => void ctx.tell(to('books'), 7),
    );
    const { value, violations, stats } = await simulate({
      agents: [mars, books],
      journal: true,
      maxSteps: 50_000,
      supervision: { intensity: { maxRestarts: 100 } },
      run: async (team, { cause, sleep, view }) => {
        cause({ fault: 'slowDisk', ms: 1_000 });
        team.tell('mars', 'go', { type: 'notification' });
        await sleep(500);
        const place = view.agent('mars')?.place as string;
        const [handled, inHand] = [view.handled, view.agent('mars')?.inHand];
        cause({ fault: 'crash', place });
        await sleep(10_000);
        return { handled, inHand };
      },
    });
    expect(value).toEqual({ handled: 0, inHand: 1 });
    expect({ booked, violations, handled: stats.handled }).toEqual({
      booked: [7],
      violations: [],
      handled: 2,
    });
  });

  it('refuses faults of a disk that there is none of, and journals that are none', async () => {
    const refusal = async (options: object): Promise<unknown> =>
      simulate({ agents: [], ...options } as SimulateOptions).then(
        ({ error }) => (error as { details?: { field: string } } | undefined)?.details?.field,
        (error) => error.details.field,
      );
    expect(await refusal({ faults: { fullDisk: { probability: 0.1 } } })).toBe('options.faults.fullDisk');
    expect(await refusal({ faults: { slowDisk: { probability: 0.1 } } })).toBe('options.faults.slowDisk');
    expect(await refusal({ faults: { planned: [{ fault: 'fullDisk', atMs: 1, ms: 1 }] } })).toBe(
      'options.faults.planned.0.fault',
    );
    expect(await refusal({ journal: { path: 'a' } })).toMatch(/^options\.journal/);
    expect(await refusal({ journal: false })).toMatch(/^options\.journal/);
    const now: SimulateOptions['run'] = (_, { cause }) => cause({ fault: 'slowDisk', ms: 1 });
    expect(await refusal({ run: now })).toBe('fault');
  });
});
