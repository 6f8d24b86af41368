import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { faultsOf } from '../../../runtime/protocol/payload-faults.ts';

function faults(schema: z.ZodType, value: unknown, root?: string): string {
  const { error } = schema.safeParse(value);
  if (error === undefined) throw new Error('It fits');
  return faultsOf(error, value, root);
}

describe('What a schema finds wrong', () => {
  it.each<[z.ZodType, unknown, string]>([
    [z.number(), 'two', 'it is "two", expected a number'],
    [z.string(), undefined, 'it is missing, expected a text'],
    [z.boolean(), null, 'it is null, expected true or false'],
    [z.int(), 1.5, 'it is 1.5, expected a whole number'],
    [z.int().min(1), 0, 'it is 0, expected a number of at least 1'],
    [z.number().positive(), 0, 'it is 0, expected a number above 0'],
    [z.number().lt(3), 3, 'it is 3, expected a number below 3'],
    [z.number().max(3), 4, 'it is 4, expected a number of at most 3'],
    [z.number().multipleOf(5), 4, 'it is 4, expected a multiple of 5'],
    [z.string().min(1), '', 'it is "", expected a text that is not empty'],
    [z.string().min(3), 'x', 'it is "x", expected a text of at least 3 characters'],
    [z.string().length(1), 'xx', 'it is "xx", expected a text of exactly 1 character'],
    [z.array(z.int()).max(1), [1, 2], 'it is [1,2], expected a list of at most 1 item'],
    [z.string().regex(/^a$/), 'b', 'it is "b", expected a text that matches /^a$/'],
    [z.string().startsWith('web:'), 'b', 'it is "b", expected a text that begins with "web:"'],
    [z.url(), 'x', 'it is "x", expected a URL'],
    [z.email(), 'x', 'it is "x", expected an email address'],
    [z.literal(1), 2, 'it is 2, expected 1'],
    [z.enum(['a', 'b', 'c']), 'd', 'it is "d", expected "a", "b" or "c"'],
    [z.union([z.string(), z.int()]), true, 'it is true, expected a text or a number'],
    [z.date(), 'x', 'it is "x", expected a Date'],
    [z.map(z.string(), z.int()), {}, 'it is {}, expected a Map'],
    [z.string(), new Map(), 'it is an instance of Map, expected a text'],
    [z.string(), new Date(0), 'it is the Date 1970-01-01T00:00:00.000Z, expected a text'],
    [z.int(), () => 1, 'it is a function, expected a number'],
    [z.never(), 1, 'it is 1, expected nothing'],
    [z.record(z.enum(['a']), z.int()), { a: 1, b: 2 }, 'b is 2, expected no field of this name'],
    [
      z.discriminatedUnion('t', [z.object({ t: z.literal('a') }), z.object({ t: z.literal('b') })]),
      { t: 'c' },
      't is "c", expected "a" or "b"',
    ],
  ])('is a sentence: %#', (schema, value, said) => {
    expect(faults(schema, value)).toBe(said);
  });

  it('names each field as code would have it, and the first of many', () => {
    const rows = z.object({ rows: z.array(z.strictObject({ id: z.int() })) });
    expect(faults(rows, { rows: [{ id: 'a' }, {}, { id: 1, who: 'x' }] })).toBe(
      'rows[0].id is "a", expected a number; rows[1].id is missing, expected a number; rows[2].who is "x", expected no field of this name',
    );
    const many = faults(z.array(z.int()), 'x'.repeat(20).split(''), 'list');
    expect(many).toMatch(/^list\[0\] is "x", expected a number; .*; and 14 more$/);
  });

  it('has what the author of a schema says instead', () => {
    expect(faults(z.string().min(1, 'Name is required'), '')).toBe('it is "": Name is required');
    const wanted = z.custom((value) => value === 1, 'the number one');
    expect(faults(wanted, 2)).toBe('it is 2, expected the number one');
  });

  it('shows no secret, and no more of a value than helps', () => {
    const keys = z.object({ apiKey: z.int(), text: z.int() });
    const said = faults(keys, { apiKey: 'hush', text: 'x'.repeat(1_000) });
    expect(said).not.toContain('hush');
    expect(said.length).toBeLessThan(200);
  });

  it('tells of a rule over several fields the one that it names', () => {
    const both = z
      .object({ size: z.int(), secret: z.string() })
      .refine(() => false, { path: ['size'], error: 'nothing where there is a secret' });
    expect(faults(both, { size: 5, secret: 'hush' })).toBe(
      'size is 5, expected nothing where there is a secret',
    );
  });
});
