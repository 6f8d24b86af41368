import { capability } from 'orrery';
import { modelAgent, type ModelAgentOptions } from 'orrery/models';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';

const model = { baseUrl: 'http://127.0.0.1:1/v1', model: 'm' };
const good: ModelAgentOptions = { id: 'luna', name: 'LUNA', model, instructions: 'x' };
const list = capability({ id: 'b', description: 'B', input: z.object({}), output: z.array(z.int()) });
const dates = capability({
  id: 'c',
  description: 'C',
  input: z.date(),
  output: z.string(),
  carries: 'structured',
});

describe('modelAgent', () => {
  it('makes an agent that is asked for text, in words or as a stream', () => {
    const card = modelAgent(good).card(0);
    expect(card).toMatchObject({ id: 'luna', tier: 3, version: '1.0.0', defaultCapability: 'answer.stream' });
    expect(card.capabilities.map(({ id, streams }) => [id, streams === true])).toEqual([
      ['answer.stream', true],
      ['answer', false],
    ]);
  });

  it('makes one that is asked for what it is given', () => {
    const { defaultCapability, capabilities } = modelAgent({ ...good, capabilities: [list], tier: 1 }).card(
      0,
    );
    expect(defaultCapability).toBeUndefined();
    expect(capabilities.map(({ id }) => id)).toEqual(['b']);
  });

  it.each<[object, string, string]>([
    [{ model: 'gpt' }, 'modelAgent.model', '"gpt"'],
    [{ model: { ...model, baseUrl: 'file:///x' } }, 'modelAgent.model.baseUrl', 'file:///x'],
    [{ model: { ...model, model: '' } }, 'modelAgent.model.model', '""'],
    [
      { model: { ...model, apiKeyEnv: 'NOT_SET_ANYWHERE' } },
      'modelAgent.model.apiKeyEnv',
      'NOT_SET_ANYWHERE',
    ],
    [{ model: { ...model, apiKey: 'a', apiKeyEnv: 'B' } }, 'modelAgent.model.apiKeyEnv', 'not both'],
    [{ instructions: 5 }, 'modelAgent.instructions', '5'],
    [{ limits: { maxSteps: 0 } }, 'modelAgent.limits.maxSteps', '0'],
    [{ limits: { steps: 3 } }, 'modelAgent.limits.steps', '3'],
    [{ prices: { inputPerMillion: -1, outputPerMillion: 1 } }, 'modelAgent.prices.inputPerMillion', '-1'],
    [{ tools: 'mars.*' }, 'modelAgent.tools', 'mars'],
    [{ tools: [''] }, 'modelAgent.tools[0]', '""'],
    [{ tools: ['mars'] }, 'modelAgent.tools[0]', 'expected a full name, agent.*, or *'],
    [{ tools: ['mars.*', 'mars*'] }, 'modelAgent.tools[1]', '"mars*"'],
    [{ settings: { temperature: 'hot' } }, 'modelAgent.settings.temperature', 'hot'],
    [{ memory: 'yes' }, 'modelAgent.memory', '"yes"'],
    [{ memory: { most: 0 } }, 'modelAgent.memory.most', '0'],
    [{ memory: { layers: ['galaxy'] } }, 'modelAgent.memory.layers[0]', '"galaxy"'],
    [{ memory: { tags: ['a\0'] } }, 'modelAgent.memory.tags[0]', 'text without NUL'],
    [{ memory: { agent: '' } }, 'modelAgent.memory.agent', '""'],
    [{ memory: { layer: 'user' } }, 'modelAgent.memory.layer', '"user"'],
    [{ streams: 'yes' }, 'modelAgent.streams', 'yes'],
    [{ countTokens: 4 }, 'countTokens', '4'],
    [{ capabilities: [] }, 'modelAgent.capabilities', '[]'],
    [{ capabilities: [{ capability: list, streams: true }] }, 'modelAgent.capabilities[0].streams', 'text'],
    [{ capabilities: [7] }, 'modelAgent.capabilities[0] is 7', 'a capability, or { capability'],
    [{ capabilities: [{ capability: list, promt: 'x' }] }, 'modelAgent.capabilities[0].promt', '"x"'],
    [{ capabilities: [dates] }, 'modelAgent.capabilities[0].capability.carries', 'json'],
    [{ capabilities: [{ capability: 5 }] }, 'modelAgent.capabilities[0].capability', '5'],
    [{ capabilities: [{ capability: list, prompt: 'x' }] }, 'modelAgent.capabilities[0].prompt', 'function'],
    [{ tier: 9 }, 'agent.tier', '9'],
    [{ colour: 'red' }, 'agent.colour', 'red'],
  ])('refuses %j, naming field and value', (wrong, field, value) => {
    const make = (): unknown => modelAgent({ ...good, ...wrong } as ModelAgentOptions);
    expect(make).toThrow(expect.objectContaining({ code: 'INVALID_OPTIONS' }));
    expect(make).toThrow(field);
    expect(make).toThrow(value);
  });

  it('shows no key when it refuses what stands beside it', () => {
    const endpoint = { ...model, apiKey: 'hush', apiKeyEnv: 'B' };
    expect(() => modelAgent({ ...good, model: endpoint })).toThrow(
      /^modelAgent\.model\.apiKeyEnv is "B", expected apiKey or apiKeyEnv, not both$/,
    );
  });

  it('reads an environment variable only where it is told to', () => {
    process.env['TEST_ONLY_KEY'] = 'k';
    expect(() => modelAgent({ ...good, model: { ...model, apiKeyEnv: 'TEST_ONLY_KEY' } })).not.toThrow();
    delete process.env['TEST_ONLY_KEY'];
  });
});
