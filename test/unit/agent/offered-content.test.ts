import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../../../runtime/agent/agent-definition.ts';
import { capability } from '../../../runtime/protocol/capability.ts';

const agent = () => defineAgent({ id: 'a', name: 'A', version: '1.0.0', description: 'An agent', tier: 2 });

const messageOf = (work: () => unknown): string => {
  try {
    work();
  } catch (error) {
    const { code, message } = error as { code: string; message: string };
    return `${code}: ${message}`;
  }
  return 'nothing was thrown';
};

const load = () => 'text';

describe('What an agent offers beside its capabilities (N-6.1, N-6.4)', () => {
  it('stands on its card, and what reads it does not', () => {
    const card = agent()
      .handle(capability({ id: 'x', description: '', input: z.object({}), output: z.object({}) }), () => ({}))
      .resource({ uri: 'x://1', name: 'one', mimeType: 'text/plain', size: 4 }, load)
      .resourceTemplate({ uriTemplate: 'y://{n}/{+path}', name: 'many' }, load)
      .prompt({ name: 'p.q', arguments: [{ name: 'who', required: true }] }, 'Hello {{who}}')
      .card(0);
    expect(card).toMatchObject({
      resources: [{ uri: 'x://1', name: 'one', mimeType: 'text/plain', size: 4 }],
      resourceTemplates: [{ uriTemplate: 'y://{n}/{+path}', name: 'many' }],
      prompts: [{ name: 'p.q', arguments: [{ name: 'who', required: true }] }],
    });
    expect(card.capabilities.map(({ id }) => id)).toEqual(['x']);
    expect(agent().card(0)).not.toHaveProperty('resources');
  });

  it.each<[string, () => unknown, string]>([
    ['a resource whose URI is none', () => agent().resource({ uri: 'x', name: 'n' }, load), 'resource.uri'],
    [
      'a resource without a loader',
      () => agent().resource({ uri: 'x://1', name: 'n' }, 5 as never),
      'x://1 is 5',
    ],
    [
      'a resource that is there',
      () => agent().resource({ uri: 'x://1', name: 'n' }, load).resource({ uri: 'x://1', name: 'm' }, load),
      'resource.uri is "x://1"',
    ],
    [
      'a template without a scheme',
      () => agent().resourceTemplate({ uriTemplate: '{x}', name: 'n' }, load),
      'uriTemplate is "{x}"',
    ],
    [
      'a template without a variable',
      () => agent().resourceTemplate({ uriTemplate: 'x://1', name: 'n' }, load),
      'at least one variable',
    ],
    [
      'a template with two variables side by side',
      () => agent().resourceTemplate({ uriTemplate: 'x://{a}{b}', name: 'n' }, load),
      'text between {a} and {b}',
    ],
    [
      'a template with an operator of a higher level',
      () => agent().resourceTemplate({ uriTemplate: 'x://a{?b}', name: 'n' }, load),
      '{?b}',
    ],
    [
      'a template with a path before its end',
      () => agent().resourceTemplate({ uriTemplate: 'x://{+a}/{b}', name: 'n' }, load),
      '{+a} as the last',
    ],
    [
      'a template that does not end',
      () => agent().resourceTemplate({ uriTemplate: 'x://{a', name: 'n' }, load),
      '"}"',
    ],
    [
      'a variable twice',
      () => agent().resourceTemplate({ uriTemplate: 'x://{a}/{a}', name: 'n' }, load),
      'the variable "a" once',
    ],
    [
      'a completer of no variable',
      () => agent().resourceTemplate({ uriTemplate: 'x://{a}', name: 'n' }, load, { complete: { b: ['x'] } }),
      'complete.b',
    ],
    ['a prompt whose name is none', () => agent().prompt({ name: 'a b' }, 'text'), 'prompt.name is "a b"'],
    ['a placeholder of no argument', () => agent().prompt({ name: 'p' }, 'Hello {{who}}'), '{{who}}'],
    ['an empty placeholder', () => agent().prompt({ name: 'p' }, 'Hello {{}}'), '{{}}'],
    [
      'a placeholder deep in a message',
      () =>
        agent().prompt({ name: 'p' }, [
          { role: 'user', content: { type: 'resource', resource: { uri: 'x://{{n}}', text: '' } } },
        ]),
      '{{n}}',
    ],
    [
      'a message that is none',
      () => agent().prompt({ name: 'p' }, [{ role: 'robot' } as never]),
      'the template of "p"[0].role',
    ],
    [
      'an argument twice',
      () => agent().prompt({ name: 'p', arguments: [{ name: 'n' }, { name: 'n' }] }, 'text'),
      'arguments[1].name is "n"',
    ],
    [
      'an argument with braces',
      () => agent().prompt({ name: 'p', arguments: [{ name: '{n}' }] }, 'text'),
      'arguments[0].name',
    ],
    [
      'an option that there is not',
      () =>
        agent().resourceTemplate({ uriTemplate: 'x://{a}', name: 'n' }, load, {
          completes: { a: [] },
        } as never),
      'completes',
    ],
    [
      'a completer that is none',
      () =>
        agent().prompt({ name: 'p', arguments: [{ name: 'n' }] }, 'text', { complete: { n: 5 as never } }),
      'complete.n of the prompt "p" is 5',
    ],
  ])('refuses %s', (_what, define, expected) => {
    const message = messageOf(define);
    expect(message).toContain('INVALID_OPTIONS');
    expect(message).toContain(expected);
  });
});
