import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { parseOptions, requireMethod } from '../../../runtime/protocol/parse-options.ts';

const Options = z
  .strictObject({
    url: z.url().optional(),
    day: z.string().regex(/^\d+$/).optional(),
    either: z.union([z.literal(true), z.array(z.string())]).optional(),
    size: z.int().positive().optional(),
    secret: z.string().optional(),
    served: z
      .union([
        z.literal(false),
        z.strictObject({ key: z.string(), how: z.union([z.literal('a'), z.literal(5)]) }),
      ])
      .optional(),
    nested: z.strictObject({ rows: z.array(z.strictObject({ id: z.int() })) }).optional(),
  })
  .refine(({ size, secret }) => size === undefined || secret === undefined, {
    path: ['size'],
    error: 'nothing where there is a secret',
  });

describe('Options that do not fit', () => {
  it.each([
    [{ size: 0 }, 'o.size is 0, expected a number above 0'],
    [{ url: 'nope' }, 'o.url is "nope", expected a URL'],
    [{ day: 'x' }, 'o.day is "x", expected a text that matches /^\\d+$/'],
    [{ either: [1] }, 'o.either[0] is 1, expected a text'],
    [{ sise: 1 }, 'o.sise is 1, expected no option of this name'],
    [{ nested: { rows: [{ id: 'a' }] } }, 'o.nested.rows[0].id is "a", expected a number'],
    [{ served: { key: 'hush', how: 'x' } }, /^o\.served\.how is "x", expected "a" or 5$/],
    [{ served: { key: 'hush', how: 'a', who: 1 } }, 'o.served.who is 1, expected no option of this name'],
    [{ served: true }, 'o.served is true, expected false or an object'],
    [undefined, 'o is undefined, expected an object'],
  ])('are named with their value: %j', (given, message) => {
    expect(() => parseOptions(Options, given, 'o')).toThrow(message);
  });

  it('name the one that a rule over several is about, and tell nothing of the others', () => {
    expect(() => parseOptions(Options, { size: 5, secret: 'hush' }, 'o')).toThrow(
      /^o\.size is 5, expected nothing where there is a secret$/,
    );
  });
});

describe('A secret', () => {
  const Secrets = z.strictObject({
    apiKey: z.string().optional(),
    credentials: z
      .union([z.strictObject({ bearer: z.string() }), z.strictObject({ own: z.string() })])
      .optional(),
  });

  it.each([
    [{ apiKey: ['hush'] }, 'o.apiKey is a list that is not shown, expected a text'],
    [{ apiKey: 5 }, 'o.apiKey is a number that is not shown, expected a text'],
    [{ 'api-key': 'hush' }, 'o.api-key is a text that is not shown, expected no option of this name'],
    [{ credentials: { beerer: 'hush' } }, 'o.credentials is an object that is not shown, expected'],
    [{ credentials: null }, 'o.credentials is null, expected'],
    [
      { headrs: { Authorization: 'hush', accept: 'x' } },
      'o.headrs is {"Authorization":"…","accept":"x"}, expected no option of this name',
    ],
  ])('is in no error: %#', (given, message) => {
    const refused = expect.objectContaining({
      message: expect.stringContaining(message),
      details: expect.not.objectContaining({ value: expect.stringContaining('hush') }),
    });
    expect(() => parseOptions(Secrets, given, 'o')).toThrow(refused);
  });
});

describe('What needs a method', () => {
  it('is refused without it, by its name', () => {
    expect(() => requireMethod('clock', { now: () => 1 }, 'now', 'a clock')).not.toThrow();
    for (const value of [undefined, null, 3, {}, { now: 3 }])
      expect(() => requireMethod('clock', value, 'now', 'a clock')).toThrow(
        /^clock is .*, expected a clock$/,
      );
  });
});
