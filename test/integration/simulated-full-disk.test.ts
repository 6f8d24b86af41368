import { defineAgent, type HandlingContext } from 'orrery';
import { simulate } from 'orrery/simulate';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { CARD, to, work } from '../fixtures/simulated-work.ts';

const LONG_MS = 90_000;
const BUDGET = { maxSteps: 200_000, maxMs: 300_000 };

const plainBooks = defineAgent({ id: 'books', name: 'BOOKS', ...CARD }).handle(work, (n) => n);
/** Notes what it begins on, and tells `books` of it; of what is negative it dies after a while. */
const booking =
  (begun: number[]) =>
  async (n: number, ctx: HandlingContext): Promise<number> => {
    begun.push(n);
    if (n < 0) {
      await ctx.sleep(1_000);
      throw new Error('it is negative');
    }
    ctx.tell(to('books'), n);
    return n;
  };

describe('durable agents while the journal cannot write', () => {
  for (const delivery of ['once', 'retry'] as const) {
    it(`handle nothing twice and tell of nothing dead that was handled, however long it takes (${delivery})`, async () => {
      const handled: number[] = [];
      const booked: number[] = [];
      const books = defineAgent({ id: 'books', name: 'BOOKS', ...CARD }).handle(work, (n) => {
        booked.push(n);
        return n;
      });
      const mars = defineAgent({ id: 'mars', name: 'MARS', delivery, ...CARD }).handle(
        work,
        async (n, ctx) => {
          handled.push(n);
          await ctx.sleep(20);
          ctx.tell(to('books'), n);
          return n;
        },
      );
      const { value, violations, ending, stats, finalState } = await simulate({
        agents: [mars, books],
        journal: true,
        ...BUDGET,
        run: async (team, { cause, sleep }) => {
          for (let n = 0; n < 5; n++) team.tell(to('mars'), n);
          await team.whenKept();
          await sleep(10);
          cause({ fault: 'fullDisk', ms: LONG_MS });
          await sleep(LONG_MS - 20_000);
          const meanwhile = [...handled];
          await team.whenKept();
          await sleep(1_000);
          return { meanwhile, restarts: (await team.roster()).map(({ restarts }) => restarts) };
        },
      });
      expect({ violations, ending, handled, booked }).toEqual({
        violations: [],
        ending: 'quiet',
        handled: [0, 1, 2, 3, 4],
        booked: [0, 1, 2, 3, 4],
      });
      expect(value).toEqual({ meanwhile: [0], restarts: [0, 0] });
      expect(finalState?.deadLetters).toEqual([]);
      expect(stats.handled).toBe(10);
    });
  }

  it('are not cut off by the death of their actor when all that they wait for is the journal', async () => {
    const begun: number[] = [];
    const mars = defineAgent({ id: 'mars', name: 'MARS', ...CARD, durable: false, concurrency: 2 }).handle(
      work,
      booking(begun),
    );
    const { value, violations, finalState } = await simulate({
      agents: [mars, plainBooks],
      journal: true,
      ...BUDGET,
      run: async (team, { cause, sleep }) => {
        await team.whenKept();
        cause({ fault: 'fullDisk', ms: 5_000 });
        const asked = [-1, 1].map((n) => team.ask(to('mars'), n).catch((error) => error.code as string));
        await sleep(10);
        return Promise.all(asked);
      },
    });
    expect({ value, violations, begun }).toEqual({
      value: ['HANDLER_FAILED', 1],
      violations: [],
      begun: [-1, 1],
    });
    expect(finalState?.conservation.holds).toBe(true);
  });

  it('have what they did asked again when they are given up meanwhile, and that is answered', async () => {
    const begun: number[] = [];
    let attempts = 0;
    const mars = defineAgent({
      ...{ id: 'mars', name: 'MARS', ...CARD, durable: false, concurrency: 3 },
      supervision: { intensity: { maxRestarts: 0 }, halfOpen: false },
    }).handle(work, booking(begun));
    const asker = defineAgent({
      ...{ id: 'asker', name: 'ASKER', ...CARD, durable: false, delivery: 'retry' },
    }).handle(work, async (n, ctx) => {
      attempts += 1;
      const answer = ctx.ask(to('mars'), n, { timeoutMs: 20_000 });
      if (attempts > 1) return answer;
      answer.catch(() => undefined);
      await ctx.sleep(100);
      throw new Error('too late for what it asked');
    });
    const { value, violations, finalState } = await simulate({
      agents: [mars, asker, plainBooks],
      journal: true,
      ...BUDGET,
      run: async (team, { cause }) => {
        await team.whenKept();
        cause({ fault: 'fullDisk', ms: 5_000 });
        const asked = [team.ask(to('mars'), -1), team.ask(to('asker'), 1, { timeoutMs: 60_000 })];
        return Promise.all(asked.map((answer) => answer.catch((error) => error.code as string)));
      },
    });
    expect({ value, violations, begun, attempts }).toEqual({
      ...{ value: ['HANDLER_FAILED', 1], violations: [], begun: [-1, 1], attempts: 2 },
    });
    expect(finalState?.conservation).toMatchObject({ holds: true, inFlight: 0 });
  });

  it('go on in another thread with what is settled, when theirs dies and the disk stays full for long', async () => {
    const sums: number[] = [];
    const mars = defineAgent({ id: 'mars', name: 'MARS', delivery: 'retry', ...CARD })
      .onStart(() => ({ sum: 0 }))
      .keepsState(z.object({ sum: z.int() }))
      .handle(work, (n, ctx) => {
        ctx.state.sum += n;
        sums.push(ctx.state.sum);
        return ctx.state.sum;
      });
    const { value, violations, ending, events } = await simulate({
      agents: [mars],
      journal: true,
      ...BUDGET,
      run: async (team, { cause, sleep, view }) => {
        await team.ask(to('mars'), 1);
        cause({ fault: 'fullDisk', ms: LONG_MS });
        await sleep(1_000);
        cause({ fault: 'crash', place: view.agent('mars')?.place as string });
        await sleep(LONG_MS + 10_000);
        const answer = await team.ask(to('mars'), 10);
        return { answer, status: (await team.roster())[0]?.status };
      },
    });
    expect({ value, violations, ending, sums }).toEqual({
      value: { answer: 11, status: 'running' },
      violations: [],
      ending: 'quiet',
      sums: [1, 11],
    });
    expect(events.filter(({ type }) => type === 'journal')).toMatchObject([
      { success: false, errorCode: 'STORE_FAILED', reason: expect.stringContaining('no space left') },
      { success: true },
    ]);
  });
});
