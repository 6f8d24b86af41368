import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { memoOf, type TurnMemo, planTurn } from '../../../../actors/tasks/turn-plan.ts';
import type { Json } from '../../../../actors/tasks/task-log.ts';
import { type AgentDefinition, capability, defineAgent } from '../../../../index.ts';
import type { Part, TaskMessage } from '../../../../runtime/protocol/task.ts';

const about = { name: 'MARS', version: '1.0.0', description: 'Builds', tier: 2 } as const;
const agentWith = (inputs: Record<string, z.ZodType>, defaultCapability?: string): AgentDefinition => {
  const agent = defineAgent({ id: 'mars', ...about, ...(defaultCapability && { defaultCapability }) });
  for (const [id, input] of Object.entries(inputs))
    agent.handle(
      capability({ id, name: id.toUpperCase(), description: id, input, output: z.unknown() }),
      () => 1,
    );
  return agent;
};
const says = (...parts: (Part | string)[]): TaskMessage => ({
  messageId: 'm',
  role: 'user',
  parts: parts.map((part) => (typeof part === 'string' ? { text: part } : part)),
});
const data = (value: Json): Part => ({ data: value });
const plan = (agent: AgentDefinition, message: TaskMessage, memo?: TurnMemo) =>
  planTurn(agent.card(0), message, memo ?? memoOf(undefined));
const failure = (run: () => unknown): { code: string; message: string; details: unknown } => {
  try {
    run();
  } catch (error) {
    return error as never;
  }
  throw new Error('It did not fail');
};

const text = z.string();
const flight = z.strictObject({ from: text.describe('airport'), to: text, seats: z.int().default(1) });
const two = { 'text.say': text, 'travel.book': flight };

describe('Which capability a message means (C-38)', () => {
  it.each<[string, Part, string]>([
    ['its id', data({ tool: 'travel.book', arguments: { from: 'A', to: 'B' } }), 'travel.book'],
    ['agent and id', data({ tool: 'mars.text.say', arguments: 'x' }), 'text.say'],
    ["the agent's name and id", data({ tool: 'MARS.text.say', arguments: 'x' }), 'text.say'],
  ])('is named by %s', (_, part, id) => {
    expect(plan(agentWith(two), says('please', part))).toMatchObject({ kind: 'call', capability: { id } });
  });

  it('is the default one, the only one, or that of the task before', () => {
    const id = 'text.say';
    expect(plan(agentWith(two, id), says('hello'))).toMatchObject({ capability: { id }, input: 'hello' });
    expect(plan(agentWith({ [id]: text }), says('hello'))).toMatchObject({ capability: { id } });
    const memo = { capability: id, approvals: [] };
    expect(plan(agentWith(two, 'travel.book'), says('hello'), memo)).toMatchObject({ capability: { id } });
  });

  it.each<[string, TaskMessage, string]>([
    ['nothing names one', says('hello'), 'The message names no capability'],
    ['it is not there', says(data({ tool: 'travel.fly' })), 'mars has no capability "travel.fly"'],
  ])('is unknown when %s: the choices are named', (_, message, what) => {
    const { code, message: reason, details } = failure(() => plan(agentWith(two), message));
    expect(code).toBe('INVALID_PAYLOAD');
    expect(reason).toBe(`${what}: a data part {tool, arguments} names one of text.say, travel.book`);
    expect(details).toMatchObject({ choices: ['text.say', 'travel.book'] });
  });

  it('has to be one that the agent handles, to be marked as default', () => {
    expect(failure(() => agentWith(two, 'text.sing').card(0)).code).toBe('INVALID_OPTIONS');
  });
});

describe('What a capability is given of a message', () => {
  const inputFor = (input: z.ZodType, ...parts: (Part | string)[]) =>
    plan(agentWith({ it: input }), says(...parts));
  const one = z.strictObject({ query: text, limit: z.int().optional() });
  it.each<[string, z.ZodType, (Part | string)[], unknown]>([
    ['text, where it takes text', text, ['a', 'b'], 'a\nb'],
    ['text, where it takes anything', z.unknown(), ['a'], 'a'],
    ['text, as the one text that it needs', one, ['{"query":"x"}'], { query: '{"query":"x"}' }],
    [
      'text, as the one text that it may have',
      z.strictObject({ note: text.optional() }),
      ['a'],
      { note: 'a' },
    ],
    ['what the text says as JSON', flight, ['{"from":"A","to":"B"}'], { from: 'A', to: 'B' }],
    ['what the text says as JSON, a number', z.number(), ['4.5'], 4.5],
    ['what the text says as JSON, a list', z.array(z.int()), ['[1,2]'], [1, 2]],
    ['data', flight, [data({ from: 'A', to: 'B' })], { from: 'A', to: 'B' }],
    ['the fields of all data', flight, [data({ from: 'A' }), data({ to: 'B' })], { from: 'A', to: 'B' }],
    ['data that is no object', z.array(z.int()), [data([1])], [1]],
    [
      'data, and text for the one text that is missing',
      one,
      [data({ limit: 2 }), 'x'],
      { limit: 2, query: 'x' },
    ],
    [
      'arguments, and nothing of the text',
      one,
      ['x', data({ tool: 'it', arguments: { query: 'y' } })],
      { query: 'y' },
    ],
    ['nothing, where it needs nothing', z.strictObject({}), ['go'], {}],
    ['arguments that are wrong, as they are', one, [data({ tool: 'it', arguments: [1] })], [1]],
  ])('is %s', (_, input, parts, expected) => {
    expect(inputFor(input, ...parts)).toMatchObject({ kind: 'call', input: expected });
  });

  it.each<[string, z.ZodType, (Part | string)[]]>([
    ['text, where it takes a number', z.number(), ['many']],
    [
      'text, where there are two that it may be',
      z.strictObject({ a: text.optional(), b: text.optional() }),
      ['x'],
    ],
    ['nothing, where it takes text', text, [{ url: 'https://example.org/a' }]],
  ])('is not %s', (_, input, parts) => {
    expect(failure(() => inputFor(input, ...parts)).code).toBe('INVALID_PAYLOAD');
  });
});

describe('What is missing for a capability (A-09, X-51)', () => {
  const agent = agentWith(two);
  const begin = plan(agent, says(data({ tool: 'travel.book', arguments: { seats: 2 } })));
  const memo: TurnMemo = {
    capability: 'travel.book',
    input: { seats: 2 },
    awaits: { kind: 'fields' },
    approvals: [],
  };

  it('is asked for by name and description, and nothing that has a default', () => {
    expect(begin).toMatchObject({
      kind: 'question',
      awaits: { kind: 'fields' },
      parts: [
        { text: 'TRAVEL.BOOK needs from (airport), to' },
        {
          data: {
            inputRequired: {
              capability: 'travel.book',
              fields: [{ name: 'from', description: 'airport', schema: { type: 'string' } }, { name: 'to' }],
            },
          },
        },
      ],
    });
  });

  it('is completed by data, and by text when one thing is missing', () => {
    const half = plan(agent, says(data({ from: 'A' })), memo);
    expect(half).toMatchObject({ kind: 'question', input: { seats: 2, from: 'A' } });
    const whole = plan(agent, says('B'), { ...memo, input: { seats: 2, from: 'A' } });
    expect(whole).toMatchObject({ kind: 'call', input: { seats: 2, from: 'A', to: 'B' } });
    expect(plan(agent, says('{"from":"A","to":"B"}'), memo)).toMatchObject({ kind: 'call' });
    expect(plan(agent, says('hm'), memo)).toMatchObject({ kind: 'question' });
  });

  it('is left when another capability is named', () => {
    const named = says(data({ tool: 'text.say', arguments: 'never mind' }));
    expect(plan(agent, named, memo)).toMatchObject({ capability: { id: 'text.say' }, input: 'never mind' });
  });

  it.each<[z.ZodType, string, unknown]>([
    [z.int(), '3', 3],
    [z.boolean(), 'yes', true],
    [z.boolean(), 'false', false],
    [z.array(text), '["a"]', ['a']],
    [z.int(), 'three', 'three'],
  ])('is read as what is wanted', (schema, said, value) => {
    const needs = agentWith({ it: z.strictObject({ n: schema }) });
    const former: TurnMemo = { capability: 'it', input: {}, awaits: { kind: 'fields' }, approvals: [] };
    expect(plan(needs, says(said), former)).toMatchObject({ kind: 'call', input: { n: value } });
  });
});

describe('What follows an agent’s own question', () => {
  const agent = agentWith(two);
  const memo = (awaits: TurnMemo['awaits']): TurnMemo => ({
    capability: 'travel.book',
    input: { from: 'A' },
    awaits,
    approvals: [],
  });

  it('is a decision about what was shown, from the sources that were told, instead of an earlier one about the same', () => {
    const asked = {
      approvalId: 'b',
      hash: 'h',
      action: 'wipe',
      details: null,
      message: 'Wipe?',
      taint: ['web:a', 'web:b'],
    };
    const former: TurnMemo = {
      ...memo({ kind: 'approval', ...asked }),
      approvals: [
        { approvalId: 'a', hash: 'h', approved: true, taint: ['web:a'] },
        { approvalId: 'x', hash: 'other', approved: true },
      ],
    };
    expect(plan(agent, says(data({ approvalId: 'b', approved: true })), former)).toMatchObject({
      kind: 'call',
      approvals: [
        { approvalId: 'x', hash: 'other', approved: true },
        { approvalId: 'b', hash: 'h', approved: true, taint: ['web:a', 'web:b'] },
      ],
    });
  });

  it('is another turn on the same input, with the answer', () => {
    const asked = memo({ kind: 'answer', question: 'Which?' });
    expect(plan(agent, says('this'), asked)).toMatchObject({ input: { from: 'A' }, answer: 'this' });
    expect(plan(agent, says(data({ a: 1 })), asked)).toMatchObject({ answer: { a: 1 } });
    expect(plan(agent, says('tok'), memo({ kind: 'proof' }))).toMatchObject({ answer: 'tok' });
  });

  it('is the same question, until the answer fits its schema', () => {
    const schema = z.toJSONSchema(z.enum(['aisle', 'window'])) as Json;
    const asked = memo({ kind: 'answer', question: 'Which?', schema });
    expect(plan(agent, says('roof'), asked)).toMatchObject({
      kind: 'question',
      awaits: { question: 'Which?' },
      parts: [{ text: expect.stringContaining('Which?') }, { data: { inputRequired: { schema } } }],
    });
    expect(plan(agent, says('aisle'), asked)).toMatchObject({ kind: 'call', answer: 'aisle' });
  });
});
