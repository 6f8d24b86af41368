import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { ToolHost } from '../../actors/tools/tool-host.ts';
import { ANONYMOUS, type Principal } from '../../runtime/protocol/principal.ts';
import type { Tool } from '../../runtime/protocol/tool.ts';
import { Catalogue } from '../../gateway/mcp/server/catalogue.ts';
import { McpOptions } from '../../gateway/mcp/server/mcp-options.ts';
import { PagedList } from '../../gateway/mcp/server/paged-list.ts';
import { RequestStates } from '../../gateway/mcp/server/request-state.ts';
import { servedTool } from '../../gateway/mcp/server/served-tool.ts';
import { edgeNames } from '../../gateway/mcp/server/view.ts';
import { resultOf } from '../../gateway/mcp/server/tool-result.ts';
import { FakeClock } from '../fixtures/fake-clock.ts';
import { cardOf, TestTeam } from '../fixtures/test-team.ts';
import { arbJson } from './arbitraries/tool.ts';

const RUNS = { numRuns: 200 };
/** More than any of these lists has. */
const MOST_PAGES = 1_000;

const codeOf = (work: () => unknown): number | undefined => {
  try {
    work();
  } catch (error) {
    return (error as { code: number }).code;
  }
  return undefined;
};

function pagesOf(list: PagedList): unknown[][] {
  const pages: unknown[][] = [];
  let cursor: unknown;
  do {
    const page = list.page(cursor);
    pages.push(page['items'] as unknown[]);
    if (pages.length > MOST_PAGES) throw new Error('The list does not end');
    cursor = page['nextCursor'];
  } while (cursor !== undefined);
  return pages;
}

describe('Lists in pages (N-5.2, N-D11)', () => {
  const arbItems = fc.uniqueArray(fc.string(), { maxLength: 60, size: 'max' });
  const listOf = (keys: readonly string[], size: number, field = 'items') =>
    new PagedList(
      field,
      keys.map((key) => ({ key, shown: key })),
      size,
    );
  const inOrder = (keys: readonly string[]): string[] =>
    [...keys].sort((one, other) => (one < other ? -1 : 1));
  const arbSize = fc.integer({ min: 1, max: 20 });

  it('have all that there is, each once, in order, and no page that is too long or empty', () => {
    fc.assert(
      fc.property(arbItems, arbSize, (items, size) => {
        const pages = pagesOf(listOf(items, size));
        expect(pages.flat()).toEqual(inOrder(items));
        expect(pages).toHaveLength(Math.max(1, Math.ceil(items.length / size)));
        for (const page of pages) expect(page.length).toBeLessThanOrEqual(size);
      }),
      RUNS,
    );
  });

  it('are the same as text as they are as data', () => {
    fc.assert(
      fc.property(arbItems, arbSize, (items, size) => {
        const list = listOf(items, size);
        expect(JSON.parse(list.text(undefined, { more: 1 }))).toEqual({ ...list.page(undefined), more: 1 });
      }),
      RUNS,
    );
  });

  it('refuse what is no cursor of theirs', () => {
    fc.assert(
      fc.property(
        arbItems,
        arbSize,
        fc.oneof(
          arbJson,
          fc.string(),
          fc.nat().map((at) => `p${at}`),
          // Of another list.
          arbItems.map((keys) => listOf(['', 'a', ...keys], 1, 'others').page(undefined)['nextCursor']),
        ),
        (items, size, cursor) => {
          expect(codeOf(() => listOf(items, size).page(cursor))).toBe(-32602);
        },
      ),
      RUNS,
    );
  });

  it('refuse a cursor of theirs of which anything was changed', () => {
    fc.assert(
      fc.property(arbItems, fc.nat(), fc.string({ minLength: 1, maxLength: 1 }), (items, at, character) => {
        const list = listOf([...items, 'one more', 'and another'], 1);
        const cursor = list.page(undefined)['nextCursor'] as string;
        expect(list.page(cursor)).toBeDefined();
        const place = at % cursor.length;
        const changed = cursor.slice(0, place) + character + cursor.slice(place + 1);
        if (changed !== cursor) expect(codeOf(() => list.page(changed))).toBe(-32602);
        expect(codeOf(() => list.page(cursor.slice(0, place)))).toBe(-32602);
        expect(codeOf(() => list.page(`${cursor}${character}`))).toBe(-32602);
      }),
      RUNS,
    );
  });

  it('tell of each item that stays, once, and of none twice, whatever comes and goes between pages', () => {
    const arbKey = fc.string({ maxLength: 3 });
    const arbChange = fc.record({
      comes: fc.array(arbKey, { maxLength: 8 }),
      goes: fc.array(fc.nat(), { maxLength: 8 }),
    });
    fc.assert(
      fc.property(
        fc.uniqueArray(arbKey, { maxLength: 40, size: 'max' }),
        fc.array(arbChange, { minLength: 1, maxLength: 20 }),
        arbSize,
        (first, changes, size) => {
          let now = new Set(first);
          const stays = new Set(first);
          const told: string[] = [];
          let cursor: unknown;
          for (let at = 0; at < MOST_PAGES; at += 1) {
            const page = listOf([...now], size).page(cursor);
            const shown = page['items'] as string[];
            expect(shown.filter((key) => !now.has(key))).toEqual([]);
            told.push(...shown);
            cursor = page['nextCursor'];
            if (cursor === undefined) break;
            const { comes, goes } = changes[at] ?? { comes: [], goes: [] };
            const keys = [...now];
            const gone = goes.map((index) => keys[index % Math.max(1, keys.length)] as string);
            for (const key of gone) stays.delete(key);
            now = new Set([...keys.filter((key) => !gone.includes(key)), ...comes]);
          }
          expect(cursor).toBeUndefined();
          expect(new Set(told).size).toBe(told.length);
          expect([...stays].filter((key) => !told.includes(key))).toEqual([]);
        },
      ),
      { numRuns: 500 },
    );
  });

  it('show nothing that their caller does not see, whosever the cursor is', () => {
    const arbNames = fc.uniqueArray(fc.nat({ max: 99 }), { minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(arbNames, fc.integer({ min: 1, max: 5 }), (names, pageSize) => {
        const tools = new ToolHost();
        for (const name of names)
          tools.registerTool(
            {
              agentId: name % 2 === 0 ? 'even' : 'odd',
              name: `tool-${name}`,
              title: 'Tool',
              description: '',
              annotations: {},
              inputSchema: z.object({}),
              outputSchema: z.string(),
            },
            () => '',
          );
        const options = McpOptions.parse({
          pageSize,
          searchAbove: 1_000,
          visible: ({ id }: Principal, { agentId }: { agentId: string }) => id === agentId || id === 'all',
        });
        const team = new TestTeam([cardOf('even'), cardOf('odd')]);
        const catalogue = new Catalogue({ tools, options, team });
        const listOf = (id: string) => catalogue.viewOf({ ...ANONYMOUS, id }).toolList('modern');
        expect(listOf('all').page(undefined)['tools']).toHaveLength(Math.min(names.length, pageSize));
        let cursor: unknown;
        do {
          // A cursor of who sees more: a page of one's own list, or none.
          let shown: { name: string }[] = [];
          try {
            shown = listOf('odd').page(cursor)['tools'] as { name: string }[];
          } catch (error) {
            expect((error as { code: number }).code).toBe(-32602);
          }
          expect(shown.filter(({ name }) => !name.startsWith('odd.'))).toEqual([]);
          cursor = listOf('all').page(cursor)['nextCursor'];
        } while (cursor !== undefined);
      }),
      RUNS,
    );
  });
});

describe('What clients carry (L-18)', () => {
  const KEY = 'k'.repeat(32);
  const HOUR_MS = 3_600_000;
  // Where a name stands for something else in JavaScript, it is left out.
  const arbGiven = fc
    .dictionary(fc.string({ minLength: 1 }), arbJson)
    .filter((given) => !JSON.stringify(given).includes('__proto__'));

  it('comes back as it was, to what it was given for, for an hour, in any process with the key', () => {
    fc.assert(
      fc.property(fc.string(), arbGiven, fc.integer({ min: 0, max: 2 * HOUR_MS }), (of, given, laterMs) => {
        const clock = new FakeClock();
        const state = new RequestStates(KEY, clock).seal(of, given);
        clock.advance(laterMs);
        const open = () => new RequestStates(KEY, clock).open(of, state);
        if (laterMs > HOUR_MS) expect(codeOf(open)).toBe(-32602);
        else expect(open()).toEqual(JSON.parse(JSON.stringify(given)));
      }),
      RUNS,
    );
  });

  it('is refused when anything of it was changed', () => {
    fc.assert(
      fc.property(arbGiven, fc.nat(), fc.string({ minLength: 1, maxLength: 1 }), (given, at, character) => {
        const states = new RequestStates(KEY, new FakeClock());
        const state = states.seal('ada tool clerk.sign', given);
        const place = at % state.length;
        const changed = state.slice(0, place) + character + state.slice(place + 1);
        const [text, signature = ''] = changed.split('.');
        const isSame =
          text === state.split('.')[0] &&
          Buffer.from(signature, 'base64url').equals(Buffer.from(state.split('.')[1] ?? '', 'base64url'));
        if (!isSame) expect(codeOf(() => states.open('ada tool clerk.sign', changed))).toBe(-32602);
      }),
      RUNS,
    );
  });

  it('is refused to somebody else, for something else, and under another key', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), arbGiven, (of, other, given) => {
        fc.pre(of !== other);
        const clock = new FakeClock();
        const state = new RequestStates(KEY, clock).seal(of, given);
        expect(codeOf(() => new RequestStates(KEY, clock).open(other, state))).toBe(-32602);
        expect(codeOf(() => new RequestStates(`${KEY}k`, clock).open(of, state))).toBe(-32602);
        expect(codeOf(() => new RequestStates(undefined, clock).open(of, state))).toBe(-32602);
      }),
      RUNS,
    );
  });

  it('is refused when it is no state at all, whatever it is', () => {
    const states = new RequestStates(KEY, new FakeClock());
    const signed = (text: string): string =>
      `${text}.${createHmac('sha256', KEY).update(text).digest('base64url')}`;
    const arbState = fc.oneof(
      arbJson,
      fc.string(),
      // Signed with the right key by something else that has it.
      fc.string().map(signed),
      arbJson.map((value) => signed(Buffer.from(JSON.stringify(value)).toString('base64url'))),
    );
    fc.assert(
      fc.property(arbState, (state) => {
        expect(codeOf(() => states.open('ada', state))).toBe(-32602);
      }),
      RUNS,
    );
  });
});

describe('Names at the edge (C-28)', () => {
  const arbName = fc.constantFrom('a', 'b', 'a_b', 'a-b', 'ä', 'x'.repeat(70), 'a.b');
  const arbNamed = fc.uniqueArray(
    fc.tuple(arbName, arbName).map(([agentId, id]) => ({ agentId, name: `${agentId}.${id}` })),
    { maxLength: 15, selector: ({ name }) => name },
  );

  it('are each somebody’s alone, however they are made', () => {
    const ways: readonly McpOptions['names'][] = ['agent.tool', 'portable', ({ id }) => id, () => 'same'];
    fc.assert(
      fc.property(arbNamed, fc.constantFrom(...ways), (named, way) => {
        const names = edgeNames(named, McpOptions.parse({ names: way }).names);
        expect(names).toHaveLength(named.length);
        expect(new Set(names).size).toBe(named.length);
        if (way === 'portable') for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
        if (way === 'agent.tool') expect(names).toEqual(named.map(({ name }) => name));
      }),
      RUNS,
    );
  });

  it('leave everybody their full name', () => {
    const named = [
      { agentId: 'x', name: 'x.b' },
      { agentId: 'x', name: 'x.a.b' },
      { agentId: 'a', name: 'a.b' },
    ];
    expect(edgeNames(named, ({ id }) => id)).toEqual(['b', 'x.a.b', 'a.b']);
  });
});

describe('Schemas that are no objects (N-5.1, N-D11)', () => {
  const shapes: readonly [z.ZodType, fc.Arbitrary<unknown>][] = [
    [z.string(), fc.string()],
    [z.number(), fc.integer()],
    [z.array(z.boolean()), fc.array(fc.boolean())],
    [z.object({ a: z.number() }), fc.record({ a: fc.integer() })],
    [z.union([z.string(), z.null()]), fc.oneof(fc.string(), fc.constant(null))],
    [
      z.union([z.object({ a: z.number() }), z.string()]),
      fc.oneof(fc.record({ a: fc.integer() }), fc.string()),
    ],
  ];
  const arbShape = fc.constantFrom(...shapes);

  const toolOf = (input: z.ZodType, output: z.ZodType): Tool => ({
    name: 'clerk.echo',
    title: 'Echo',
    description: '',
    agentId: 'clerk',
    capability: 'echo',
    annotations: {},
    streams: false,
    isContent: false,
    inputSchema: z.toJSONSchema(input, { io: 'input' }) as Tool['inputSchema'],
    outputSchema: z.toJSONSchema(output, { io: 'output' }) as Tool['outputSchema'],
  });
  /** Whether a value fits what is listed, as zod reads the listed schema. */
  const fits = (schema: unknown, value: unknown): boolean =>
    z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]).safeParse(value).success;

  it('are listed as objects that hold them, which arguments and results fit', () => {
    fc.assert(
      fc.property(
        arbShape.chain(([schema, value]) => fc.tuple(fc.constant(schema), value)),
        arbShape.chain(([schema, value]) => fc.tuple(fc.constant(schema), value)),
        ([input, given], [output, answered]) => {
          const tool = toolOf(input, output);
          const served = servedTool(tool, tool.name, 'never');
          const { inputSchema, outputSchema } = served.modern as Record<string, { type: string }>;
          expect(inputSchema?.type).toBe('object');
          expect(outputSchema?.type).toBe('object');
          const isObject = (tool.inputSchema as { type?: string }).type === 'object';
          const args = (isObject ? given : { input: given }) as Record<string, unknown>;
          expect(fits(inputSchema, args)).toBe(true);
          expect(served.inputOf(args)).toEqual(given);
          const { structuredContent } = resultOf(served, answered);
          expect(fits(outputSchema, structuredContent)).toBe(true);
          expect(
            served.wrapsResult ? (structuredContent as { result: unknown }).result : structuredContent,
          ).toEqual(answered);
        },
      ),
      RUNS,
    );
  });

  it('keep references to their definitions', () => {
    const tree = z.object({
      name: z.string(),
      get children() {
        return z.array(tree);
      },
    });
    const served = servedTool(toolOf(z.array(tree), z.array(tree)), 'clerk.echo', 'never');
    const { inputSchema } = served.modern as Record<string, unknown>;
    const forest = [{ name: 'oak', children: [{ name: 'twig', children: [] }] }];
    expect(fits(inputSchema, { input: forest })).toBe(true);
    expect(fits(inputSchema, { input: [{ name: 'oak', children: [{ name: 3 }] }] })).toBe(false);
  });
});
