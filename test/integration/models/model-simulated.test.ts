import { defineAgent } from 'orrery';
import { answer, modelAgent } from 'orrery/models';
import { simulate } from 'orrery/simulate';
import { memorySearch } from 'orrery/skills';
import { describe, expect, it } from 'vitest';
import { wordSmith } from '../../fixtures/agents/counting-words.ts';

const luna = () =>
  modelAgent({
    id: 'luna',
    name: 'LUNA',
    model: { baseUrl: 'http://127.0.0.1:9/v1', model: 'none' },
    instructions: 'x',
    tools: ['words.*'],
    limits: { mayBillTwice: true },
  });

const target = { agent: 'luna', capability: answer };
const asked: string[] = [];
let said: unknown;

/** A run in which the model asks for a tool, is cut off once, and answers. */
const run = (seed: number) => {
  let calls = 0;
  return simulate({
    seed,
    agents: [luna(), wordSmith('words')],
    effects: {
      'model luna': (input: unknown) => {
        asked.push(JSON.stringify(input));
        calls += 1;
        if (calls === 2) throw new Error('the line is dead');
        if (calls === 1)
          return { text: 'hm', calls: [{ id: 'a', name: 'words__words_count', input: { text: 'a b' } }] };
        return { text: 'two', usage: { inputTokens: 5, outputTokens: 1 } };
      },
    },
    run: async (team) => {
      said = await team.ask(target, { prompt: 'how many?' });
    },
  });
};

describe('A model in a simulation (F-03)', () => {
  it('is answered for by an effect, waits in virtual time, and does the same with the same seed', async () => {
    const [one, other] = [await run(7), await run(7)];
    expect(one).toMatchObject({ error: undefined, violations: [] });
    expect(said).toBe('two');
    // Three calls each, one of which failed.
    expect(asked).toEqual(Array(6).fill('{"prompt":"how many?"}'));
    expect(one.effects.map(({ name }) => name)).toEqual(['model luna', 'model luna']);
    expect(other.traceHash).toBe(one.traceHash);
  });

  it('is told what an answer has to be', async () => {
    await simulate({
      seed: 1,
      agents: [luna(), wordSmith('words')],
      effects: { 'model luna': () => ({ words: 'two' }) },
      run: async (team) => {
        said = await team.ask(target, { prompt: 'x' }).catch((error: Error) => error.message);
      },
    });
    expect(said).toContain('effects["model luna"]');
  });

  it('is told what an agent that stands for the memory says, and does the same with the same seed', async () => {
    const memory = (said: string) =>
      defineAgent({ id: 'memory', name: 'MEMORY', version: '1.0.0', description: 'x', tier: 2 }).handle(
        memorySearch,
        async ({ query }, ctx) => {
          await ctx.sleep(20 * ctx.random());
          return { ...FOUND, results: [{ ...REMEMBERED, content: `${said} ${query}` }] };
        },
      );
    const runs = async (said: string) => {
      const told: unknown[] = [];
      const { traceHash, violations } = await simulate({
        seed: 3,
        agents: [remindedLuna(), memory(said)],
        effects: {
          'model luna': (input: unknown) => {
            told.push(input);
            return { text: 'ok' };
          },
        },
        run: (team) => team.ask(target, { prompt: 'what now?' }),
      });
      return { traceHash, violations, told };
    };
    const [one, other] = [await runs('About'), await runs('About')];
    expect(one).toMatchObject({ violations: [], told: [expect.anything()] });
    expect(other).toEqual(one);
  });
});

const remindedLuna = () =>
  modelAgent({
    id: 'luna',
    name: 'LUNA',
    model: { baseUrl: 'http://127.0.0.1:9/v1', model: 'none' },
    instructions: 'x',
    memory: true,
  });
const FOUND = { success: true as const, totalCount: 1, searchedLayers: [], embedding: null };
const REMEMBERED = {
  memory_id: 'm',
  layer: 'project' as const,
  scope: '',
  tags: [],
  importance: 0.5,
  author: '',
  createdAt: 0,
  updatedAt: 0,
  version: 1,
  score: 1,
  signals: { text: 1, vector: null },
  shadowed: false,
};
