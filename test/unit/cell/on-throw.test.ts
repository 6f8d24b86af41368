import { createMachine } from 'xstate';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { capability, defineAgent } from '../../../index.ts';
import type { AgentDefinition } from '../../../runtime/agent/agent-definition.ts';
import { loadedAgent, requireRunnable } from '../../../runtime/agent/loaded-agent.ts';
import { simulate } from '../../../simulate.ts';
import { rejection } from '../../fixtures/until.ts';

const CARD = { version: '1.0.0', description: 'Adds', tier: 2 } as const;
const add = capability({ id: 'test.add', description: 'Adds', input: z.int(), output: z.int() });
const pass = capability({ id: 'test.pass', description: 'Asks', input: z.int(), output: z.int() });

type Options = Parameters<typeof defineAgent>[0];

/** Keeps a sum; a negative number is added, and then it throws. `tries` has every number that it was given. */
const sum = (options: Partial<Options>, tries: number[] = []) =>
  defineAgent({ id: 'mars', name: 'MARS', ...CARD, ...options })
    .onStart(() => ({ sum: 0 }))
    .handle(add, (n, { state }) => {
      tries.push(n);
      state.sum += n;
      if (n < 0) throw new Error(`${n} is too little`);
      return state.sum;
    });

const passer = defineAgent({ id: 'venus', name: 'VENUS', ...CARD }).handle(pass, (n, ctx) =>
  ctx.ask({ agent: 'mars', capability: add }, n),
);

const codeOf = (work: Promise<unknown>) => work.catch((error: { code: string }) => error.code);

describe('A handler that throws (C-30)', () => {
  it('gives the sender of a once envelope HANDLER_FAILED with what was thrown, and begins a new life', async () => {
    const { value, finalState } = await simulate({
      agents: [sum({})],
      run: async (team) => {
        await team.ask(add, 3);
        const failed = await rejection(team.ask(add, -1));
        return { failed, next: await team.ask(add, 4) };
      },
    });
    expect(value).toEqual({
      failed: { code: 'HANDLER_FAILED', message: 'The handler of mars failed: -1 is too little' },
      next: 4,
    });
    expect(finalState?.deadLetters).toMatchObject([{ recipient: 'mars', code: 'HANDLER_FAILED' }]);
    expect(finalState?.conservation.holds).toBe(true);
  });

  it('has its envelope tried three times where it is for retry, and ends as POISON', async () => {
    const tries: number[] = [];
    const { value } = await simulate({
      agents: [sum({ delivery: 'retry' }, tries)],
      run: async (team) => rejection(team.ask(add, -1)),
    });
    expect(tries).toEqual([-1, -1, -1]);
    expect(value).toEqual({
      code: 'POISON',
      message:
        'mars failed 3 times over this envelope, the last time with: -1 is too little; it is not tried again',
    });
  });

  it('does not take along who asked it: that one passes the failure on, and lives', async () => {
    const { value } = await simulate({
      agents: [sum({}), passer],
      run: async (team, { sleep }) => {
        const codes = [await codeOf(team.ask(pass, -1)), await codeOf(team.ask(pass, -2))];
        await sleep(1_000);
        const roster = await team.roster();
        return { codes, restarts: roster.map(({ id, restarts }) => `${id} ${restarts}`) };
      },
    });
    expect(value).toEqual({ codes: ['HANDLER_FAILED', 'HANDLER_FAILED'], restarts: ['mars 2', 'venus 0'] });
  });
});

describe("onThrow: 'keep'", () => {
  it('leaves the actor and its state, and nothing is counted against it', async () => {
    const { value, finalState } = await simulate({
      agents: [sum({ onThrow: 'keep' })],
      run: async (team) => {
        const codes: unknown[] = [];
        for (let n = 0; n < 10; n++) codes.push(await codeOf(team.ask(add, -1)));
        const [mars] = await team.roster();
        return { codes: new Set(codes), sum: await team.ask(add, 3), restarts: mars?.restarts };
      },
    });
    expect(value).toEqual({ codes: new Set(['HANDLER_FAILED']), sum: -7, restarts: 0 });
    expect(finalState?.conservation.holds).toBe(true);
    expect(finalState?.deadLetters).toHaveLength(10);
  });

  it('has an envelope for retry tried three times by the same actor', async () => {
    const tries: number[] = [];
    const { value } = await simulate({
      agents: [sum({ onThrow: 'keep', delivery: 'retry' }, tries)],
      run: async (team) => [await codeOf(team.ask(add, -1)), await team.ask(add, 5)],
    });
    expect(tries).toEqual([-1, -1, -1, 5]);
    expect(value).toEqual(['POISON', 2]);
  });

  it('still ends an actor that does not stop when its time is over', async () => {
    const hangs = defineAgent({ id: 'mars', name: 'MARS', onThrow: 'keep', ...CARD }).handle(
      add,
      () => new Promise<number>(() => undefined),
    );
    const { value, finalState } = await simulate({
      agents: [hangs],
      run: async (team, { sleep }) => {
        const code = await codeOf(team.ask(add, 1, { timeoutMs: 200 }));
        await sleep(1_000);
        return { code, restarts: (await team.roster())[0]?.restarts };
      },
    });
    expect(value).toEqual({ code: 'DEADLINE_EXCEEDED', restarts: 1 });
    expect(finalState?.deadLetters).toMatchObject([{ code: 'ACTOR_DIED' }]);
  });

  it('is refused by name for an agent that is durable, and for one with logic', () => {
    const options = { id: 'mars', name: 'MARS', onThrow: 'keep', ...CARD } as const;
    const refusal = (of: string) =>
      expect.objectContaining({
        code: 'INVALID_OPTIONS',
        message: `agent.onThrow is "keep", expected 'restart' for ${of}, as mars`,
      });
    expect(() => defineAgent({ ...options, durable: true })).toThrow(refusal('an agent that is durable'));
    expect(() => defineAgent(options).logic(createMachine({}))).toThrow(refusal('an agent with logic'));
    expect(() => defineAgent({ ...options, onThrow: 'never' as 'keep' })).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTIONS' }),
    );
  });

  it('is refused where the journal makes all agents durable', () => {
    const mars = sum({ onThrow: 'keep' });
    const loaded = loadedAgent(mars as AgentDefinition<unknown>, mars.card(0));
    expect(() => requireRunnable(loaded, true)).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTIONS', message: expect.stringContaining('agent.onThrow') }),
    );
    expect(() => requireRunnable(loaded, false)).not.toThrow();
  });
});
