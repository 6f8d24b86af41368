import { describe, expect, it } from 'vitest';
import { mountedTool, shownSchema, toolInput } from '../../../../actors/mcp-servers/tool-capability.ts';

const object = (properties: object, rest: object = {}) => ({ type: 'object', properties, ...rest });
const fits = (schema: unknown, value: unknown): boolean => toolInput(schema).safeParse(value).success;

describe('what a tool of an MCP server takes', () => {
  it('is judged by its schema, and sent as it is', () => {
    const schema = object({ n: { type: 'integer', default: 3 } }, { required: ['n'] });
    expect(toolInput(schema).parse({ n: 1, other: 'kept' })).toEqual({ n: 1, other: 'kept' });
    expect(fits(schema, {})).toBe(false);
    expect(fits(schema, { n: 1.5 })).toBe(false);
    const refused = toolInput(schema).safeParse({ n: 'x' });
    expect(refused.error?.issues).toMatchObject([{ path: ['n'] }]);
  });

  it('may be nothing where nothing is required', () => {
    expect(toolInput(object({ a: { type: 'string' } })).parse(undefined)).toBeUndefined();
  });

  it('follows references within the schema', () => {
    const schema = object(
      { at: { $ref: '#/$defs/point' } },
      {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        $defs: { point: object({ x: { type: 'number' } }, { required: ['x'] }) },
      },
    );
    expect(fits(schema, { at: { x: 1 } })).toBe(true);
    expect(fits(schema, { at: {} })).toBe(false);
  });

  it('is not matched against regular expressions of somebody else', () => {
    const evil = object({ text: { type: 'string', pattern: '^(a+)+$' }, pattern: { type: 'number' } });
    expect(fits(evil, { text: `${'a'.repeat(40)}!` })).toBe(true);
    expect(fits(evil, { pattern: 'no number' })).toBe(false);
  });

  it.each([
    ['elsewhere', { $ref: 'https://example.org/schema.json' }],
    // biome-ignore lint/suspicious/noThenProperty: it is a word of JSON Schema.
    ['conditional', { type: 'object', if: { properties: { a: { const: 1 } } }, then: { required: ['b'] } }],
    ['too large', object({ a: { enum: ['x'.repeat(70_000)] } })],
    ['none', 'a text'],
  ])('is any named arguments where the schema is %s: its server judges', (_what, schema) => {
    expect(fits(schema, { a: 1 })).toBe(true);
    expect(fits(schema, undefined)).toBe(true);
    expect(fits(schema, 'a text')).toBe(false);
  });

  it('stands on the card as the server has it, unless it is too large', () => {
    const schema = object({ a: { type: 'string', pattern: '^a$' } });
    expect(shownSchema(schema)).toBe(schema);
    expect(shownSchema(object({ a: { enum: ['x'.repeat(70_000)] } }))).toEqual({ type: 'object' });
  });
});

describe('the capability of a tool', () => {
  it('has what the server says of it, and whether it is privileged here', () => {
    const tool = {
      name: 'wipe disk',
      title: 'Wipe',
      description: 'Wipes',
      inputSchema: { type: 'object' },
      outputSchema: undefined,
      annotations: { destructive: true, openWorld: true },
    };
    expect(mountedTool(tool, true).descriptor).toMatchObject({
      id: 'wipe_u20_disk',
      name: 'Wipe',
      destructive: true,
      openWorld: true,
      privileged: true,
      isContent: true,
      outputSchema: {},
    });
    expect(mountedTool(tool, false).descriptor).not.toHaveProperty('privileged');
  });
});
