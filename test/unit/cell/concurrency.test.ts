import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { capability, defineAgent } from '../../../index.ts';
import { loadedAgent, requireRunnable } from '../../../runtime/agent/loaded-agent.ts';
import type { ProcessAgent } from '../../../runtime/agent/agent-description.ts';
import { simulate } from '../../../simulate.ts';
import { rejection } from '../../fixtures/until.ts';
import { createMachine } from 'xstate';

const CARD = { version: '1.0.0', description: 'Works', tier: 2 } as const;
const work = capability({ id: 'test.work', description: 'Works', input: z.number(), output: z.number() });
const read = capability({ id: 'test.read', description: 'Reads', input: z.number(), output: z.number() });
type Options = Parameters<typeof defineAgent>[0];

/** Each takes as many milliseconds as it says; a negative one throws after so many. */
const worker = (log: string[], options: Partial<Options> = {}) =>
  defineAgent({ id: 'mars', name: 'MARS', concurrency: 3, ...CARD, ...options }).handle(
    work,
    async (ms, ctx) => {
      log.push(`+${ms}`);
      await ctx.sleep(Math.abs(ms));
      if (ms < 0) throw new Error('it is negative');
      log.push(`-${ms}`);
      return ms;
    },
  );

describe('An agent of handlers with `concurrency: 3`', () => {
  it('begins in the order of its mailbox, has three in hand at most, and ends in any order', async () => {
    const log: string[] = [];
    const { value, violations } = await simulate({
      agents: [worker(log)],
      run: (team) => Promise.all([30, 10, 25, 5, 2].map((ms) => team.ask(work, ms))),
    });
    expect(value).toEqual([30, 10, 25, 5, 2]);
    expect(log).toEqual(['+30', '+10', '+25', '-10', '+5', '-5', '+2', '-2', '-25', '-30']);
    expect(violations).toEqual([]);
  });

  it('has one at a time where nothing is said', async () => {
    const log: string[] = [];
    const one = defineAgent({ id: 'mars', name: 'MARS', ...CARD }).handle(work, async (ms, ctx) => {
      log.push(`+${ms}`);
      await ctx.sleep(ms);
      log.push(`-${ms}`);
      return ms;
    });
    await simulate({
      agents: [one],
      run: (team) => Promise.all([2, 1].map((ms) => team.ask(work, ms))),
    });
    expect(log).toEqual(['+2', '-2', '+1', '-1']);
  });

  it('loses all that it has in hand when a handler throws, and what waits goes to the next actor (C-30)', async () => {
    const log: string[] = [];
    const { value, finalState } = await simulate({
      agents: [worker(log)],
      run: (team) =>
        Promise.all([30, -10, 20, 1].map((ms) => team.ask(work, ms).catch((error) => error.code as string))),
    });
    expect(value).toEqual(['ACTOR_DIED', 'HANDLER_FAILED', 'ACTOR_DIED', 1]);
    expect(log).toEqual(['+30', '+-10', '+20', '+1', '-1']);
    expect(finalState?.conservation.holds).toBe(true);
  });

  it('tries them again in their order, before anything newer; an attempt is counted of the one that threw', async () => {
    const log: string[] = [];
    const { value } = await simulate({
      agents: [worker(log, { delivery: 'retry' })],
      run: (team) =>
        Promise.all([30, -10, 20, 1].map((ms) => team.ask(work, ms).catch((error) => error.code as string))),
    });
    expect(value).toEqual([30, 'POISON', 20, 1]);
    expect(log.filter((line) => line.startsWith('+')).slice(0, 9)).toEqual([
      ...['+30', '+-10', '+20'],
      ...['+30', '+-10', '+20'],
      ...['+30', '+-10', '+20'],
    ]);
  });

  it("leaves the others in hand where its actor lives on (onThrow: 'keep')", async () => {
    const log: string[] = [];
    const { value } = await simulate({
      agents: [worker(log, { onThrow: 'keep' })],
      run: (team) =>
        Promise.all([30, -10, 20].map((ms) => team.ask(work, ms).catch((error) => error.code as string))),
    });
    expect(value).toEqual([30, 'HANDLER_FAILED', 20]);
  });

  it('ends one by its deadline or a cancellation, and leaves the others', async () => {
    const log: string[] = [];
    const { value } = await simulate({
      agents: [
        defineAgent({ id: 'mars', name: 'MARS', concurrency: 3, ...CARD }).handle(work, async (ms, ctx) => {
          log.push(`+${ms}`);
          await ctx.sleep(ms);
          return ms;
        }),
      ],
      run: (team) => {
        const abort = new AbortController();
        const asks = [
          team.ask(work, 50),
          team.ask(work, 40, { timeoutMs: 10 }),
          team.ask(work, 45, { signal: abort.signal }),
        ];
        abort.abort();
        return Promise.all(asks.map((one) => one.catch((error) => error.code as string)));
      },
    });
    expect(value).toEqual([50, 'DEADLINE_EXCEEDED', 'CANCELLED']);
  });

  it('has on all that it has in hand what one of them took in from outside, until each is declared clean (F-09)', async () => {
    const taints: Record<string, readonly string[] | undefined> = {};
    const mars = defineAgent({ id: 'mars', name: 'MARS', concurrency: 3, ...CARD })
      .handle(read, async (ms, ctx) => {
        await ctx.sleep(ms);
        ctx.markOutside('web:a');
        await ctx.sleep(ms);
        ctx.declareClean('it was read by somebody');
        return ms;
      })
      .handle(work, async (ms, ctx) => {
        const before = ctx.taint;
        await ctx.sleep(ms);
        taints[ms] = ctx.taint;
        return before === undefined ? 0 : 1;
      });
    await simulate({
      agents: [mars],
      run: (team) =>
        Promise.all([team.ask(read, 10), team.ask(work, 5), team.ask(work, 15), team.ask(work, 25)]),
    });
    // The first was declared clean meanwhile: what the last had seen of it it has seen.
    expect(taints).toEqual({ 5: undefined, 15: ['web:a'], 25: ['web:a'] });
  });

  it('is refused where it cannot be kept: durable, with logic, in a process, and what is no number of them', () => {
    const options = { id: 'mars', name: 'MARS', concurrency: 2, ...CARD } as const;
    const messageOf = (run: () => unknown): string => {
      try {
        run();
      } catch (error) {
        return `${(error as { code: string }).code} ${(error as Error).message}`;
      }
      return '';
    };
    const durable = messageOf(() => defineAgent({ ...options, durable: true }));
    const logic = messageOf(() => defineAgent(options).logic(createMachine({})));
    const loaded = loadedAgent(defineAgent(options), defineAgent(options).card(0));
    const inProcess = messageOf(() => requireRunnable({ ...loaded, process: {} as ProcessAgent }, false));
    for (const said of [durable, logic, inProcess, messageOf(() => requireRunnable(loaded, true))])
      expect(said).toMatch(/^INVALID_OPTIONS .*agent\.concurrency.*2.*1 for an agent/);
    expect(messageOf(() => requireRunnable({ ...loaded, isProxy: true }, true))).toBe('');
    for (const concurrency of [0, 1.5, 1_001])
      expect(messageOf(() => defineAgent({ ...options, concurrency }))).toMatch(
        /INVALID_OPTIONS .*concurrency/,
      );
  });

  it('ends all that it has in hand when it is stopped', async () => {
    const { value } = await simulate({
      agents: [worker([])],
      run: async (team, { sleep }) => {
        const asks = [30, 40, 50, 60].map((ms) => rejection(team.ask(work, ms)));
        await sleep(5);
        await team.stopAgent('mars');
        return (await Promise.all(asks)).map(({ code }) => code);
      },
    });
    expect(value).toEqual(['NOT_HERE', 'NOT_HERE', 'NOT_HERE', 'NOT_HERE']);
  });
});
