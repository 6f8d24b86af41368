import { capability } from 'orrery';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { cutText } from '../../../../actors/models/cut-text.ts';
import { modelTask, readAnswer } from '../../../../actors/models/model-capability.ts';
import { namesMissing, selectTools } from '../../../../actors/models/select-tools.ts';
import { errorText, resultText } from '../../../../actors/models/tool-box.ts';
import { OrreryError } from '../../../../runtime/protocol/errors.ts';
import type { Tool } from '../../../../runtime/protocol/tool.ts';

const tool = (name: string, more: Partial<Tool> = {}): Tool => ({
  name,
  title: name,
  description: name,
  inputSchema: {},
  outputSchema: {},
  agentId: name.split('.')[0] ?? '',
  capability: name.split('.').slice(1).join('.'),
  annotations: {},
  streams: false,
  isContent: false,
  ...more,
});
const call = { id: 'c1', name: 'mars__x', input: {} };

describe('cutText', () => {
  it('leaves what is short, cuts what is long and says so, and parts no pair of surrogates', () => {
    expect(cutText('abc', 3)).toBe('abc');
    expect(cutText('abcd', 3)).toBe('abc\n[cut: these are the first 3 of 4 characters]');
    expect(cutText('ab😀d', 3)).toBe('ab\n[cut: these are the first 2 of 5 characters]');
  });
});

describe('The choice of tools', () => {
  const tools = ['mars.types.check', 'mars.types.list', 'jupiter.x', 'mars2.y', 'luna.answer'].map((name) =>
    tool(name),
  );
  const names = (choice: Parameters<typeof selectTools>[1]): string[] =>
    selectTools(tools, choice, 'luna').map(({ name }) => name);

  it('is by name, by what names begin with, all, or by a function; never the agent itself', () => {
    expect(names(['mars.types.check'])).toEqual(['mars.types.check']);
    expect(names(['mars.*'])).toEqual(['mars.types.check', 'mars.types.list']);
    expect(names(['*'])).toEqual(['mars.types.check', 'mars.types.list', 'jupiter.x', 'mars2.y']);
    expect(names(({ agentId }) => agentId === 'jupiter' || agentId === 'luna')).toEqual(['jupiter.x']);
    expect(names(['mars.types'])).toEqual([]);
  });

  it('tells which names stand for nothing', () => {
    const chosen = ['*', 'mars.types.check', 'mars.types.*', 'venus.z', 'venus.*', 'saturn.*', '*.z'];
    expect(namesMissing(tools, chosen, ['venus'])).toEqual(['venus.z', 'saturn.*', '*.z']);
    expect(namesMissing(tools, () => false, [])).toEqual([]);
  });
});

describe('What a model reads of a tool', () => {
  it('is text as it is, JSON, or `done`', () => {
    expect(resultText(call, tool('mars.x'), 'a "b"', 100).text).toBe('a "b"');
    expect(resultText(call, tool('mars.x'), { a: [1] }, 100).text).toBe('{"a":[1]}');
    expect(resultText(call, tool('mars.x'), undefined, 100)).toEqual({
      id: 'c1',
      name: 'mars__x',
      text: 'done',
      isError: false,
    });
  });

  it('is the text of content, with pictures named', () => {
    const content = {
      content: [
        { type: 'text', text: 'hello' },
        { type: 'image', data: 'AAAA', mimeType: 'image/png' },
        { type: 'resource', resource: { uri: 'log://1', text: 'line' } },
        { type: 'resource_link', uri: 'log://2', name: 'second' },
      ],
      structured: { n: 1 },
      isError: true,
    };
    const said = resultText(call, tool('mars.x', { isContent: true }), content, 1_000);
    expect(said.text).toBe('hello\n[image, image/png]\nline\n[second: log://2]\n{"n":1}');
    expect(said.isError).toBe(true);
  });

  it('is code, message and agent of an error, without its details', () => {
    const error = new OrreryError('NOT_PERMITTED', 'no', { details: { secret: 's', retryAfterMs: 5 } });
    expect(JSON.parse(errorText(call, 'mars', error, 500).text)).toEqual({
      code: 'NOT_PERMITTED',
      message: 'no',
      agentId: 'mars',
      retryAfterMs: 5,
    });
  });
});

describe('A capability of a model', () => {
  const text = capability({
    id: 'a',
    description: 'A',
    input: z.object({ prompt: z.string() }),
    output: z.string().min(3),
  });
  const list = capability({
    id: 'b',
    description: 'B',
    input: z.object({ n: z.int(), prompt: z.string() }),
    output: z.array(z.int()),
  });

  it('is told its input as a prompt alone, as JSON, or as it says itself', () => {
    expect(modelTask(text, 0).promptOf({ prompt: 'hello' })).toBe('hello');
    expect(modelTask(list, 0).promptOf({ n: 1, prompt: 'x' })).toBe('{"n":1,"prompt":"x"}');
    const prompt = ({ n }: { n: number }): string => `n is ${n}`;
    expect(modelTask({ capability: list, prompt }, 0).promptOf({ n: 1 })).toBe('n is 1');
  });

  it('reads text as it is, if it fits', () => {
    expect(readAnswer(modelTask(text, 0), '[1]', 'luna')).toEqual({ answer: '[1]' });
    expect(readAnswer(modelTask(text, 0), 'no', 'luna')).toMatchObject({
      fault: expect.stringContaining('3'),
    });
    expect(readAnswer(modelTask(text, 0), ' \n', 'luna')).toEqual({ fault: 'the answer is empty' });
  });

  it.each([
    ['[1, 2]', { answer: [1, 2] }],
    ['```json\n[1]\n```\nor rather\n```\n[2]\n```', { answer: [2] }],
    ['It is [3].', { answer: [3] }],
    ['none', { fault: 'the answer is no JSON' }],
    ['["x"]', { fault: expect.stringContaining('[0]') }],
  ])('reads %j as JSON', (said, read) => {
    const found = readAnswer(modelTask(list, 0), said, 'luna');
    if ('fault' in read && 'fault' in found) expect(found.fault).toMatch(/0|no JSON/);
    else expect(found).toEqual(read);
  });
});
