import {
  type AgentDefinition,
  type Capability,
  capability,
  defineAgent,
  type System,
  type Target,
} from 'orrery';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import { describeCapability, parseInput, parseOutput } from '../../../runtime/protocol/capability.ts';

const of = <I, O, P, G>(
  input: z.ZodType<P, I>,
  output: z.ZodType<O, G>,
  carries: 'json' | 'structured' = 'json',
): Capability<I, O, P, G> => capability({ id: 'tests.one', description: 'One', input, output, carries });

const thrownBy = (run: () => unknown): { code: string; message: string; details: unknown } => {
  try {
    run();
  } catch (error) {
    return error as never;
  }
  throw new Error('It threw nothing');
};

describe('A capability', () => {
  const never = 'expected a schema whose refinements and transforms return no promises';

  it.each<[string, z.ZodType]>([
    ['a refinement', z.string().refine(async () => true)],
    ['a transform of a field', z.object({ list: z.array(z.string().transform(async (s) => s)) })],
    ['a preprocessor', z.preprocess(async (value) => value, z.string())],
    ['one of a union', z.union([z.string(), z.number().refine(async () => true)])],
    [
      'one of a tuple',
      z.tuple(
        [z.string()],
        z.number().refine(async () => true),
      ),
    ],
    ['one behind a lazy schema', z.lazy(() => z.string().refine(async () => true))],
  ])('takes no schema with an async function: %s', (_, schema) => {
    for (const made of [() => of(schema, z.string()), () => of(z.string(), schema)]) {
      const { code, message } = thrownBy(made);
      expect(code).toBe('INVALID_OPTIONS');
      expect(message).toContain(never);
    }
  });

  it('may have a schema that contains itself, or is not known yet', () => {
    interface Node {
      kids: Node[];
    }
    const tree: z.ZodType<Node> = z.object({ kids: z.array(z.lazy(() => tree)) });
    expect(of(tree, tree).id).toBe('tests.one');
    const later = z.lazy(() => notYet);
    expect(of(later, later, 'structured').id).toBe('tests.one');
    const notYet = z.string();
  });

  it('does not make a default while it is declared', () => {
    let made = 0;
    const counting = () => {
      made += 1;
      return made;
    };
    expect(parseInput(of(z.number().default(counting), z.string()), undefined)).toBe(made);
  });

  it("needs carries: 'structured' where JSON lacks what comes out of its output, not what goes in", () => {
    const date = z.codec(z.iso.datetime(), z.date(), {
      decode: (text) => new Date(text),
      encode: (at) => at.toISOString(),
    });
    expect(of(date, z.string()).id).toBe('tests.one');
    expect(thrownBy(() => of(z.string(), date)).code).toBe('INVALID_OPTIONS');
    expect(of(z.string(), date, 'structured').id).toBe('tests.one');
    expect(of(z.string(), z.invertCodec(date)).id).toBe('tests.one');
  });

  it('is described by what is sent: what goes into its input, what comes out of its output', () => {
    const n = z.object({ n: z.number().default(3) });
    const { inputSchema, outputSchema } = describeCapability(of(n, n));
    expect(inputSchema).not.toHaveProperty('required');
    expect(outputSchema).toHaveProperty('required', ['n']);
  });
});

describe('An input', () => {
  const input = z.object({ n: z.number().default(3), text: z.string().transform((text) => text.length) });

  it('is what the schema makes of it', () => {
    expect(parseInput(of(input, z.unknown()), { text: 'moon', more: 1 })).toEqual({ n: 3, text: 4 });
  });

  it.each<[unknown, string]>([
    [{ n: 's', text: 1 }, 'n is "s", expected a number; text is 1, expected a text'],
    [{ n: Number.NaN, text: '' }, 'n is NaN, expected a number'],
    [new Map(), 'text is missing, expected a text'],
    [{ n: new Date(0), text: '' }, 'n is the Date 1970-01-01T00:00:00.000Z, expected a number'],
    [{ n: 'x'.repeat(1_000), text: '' }, `n is "${'x'.repeat(59)}…", expected a number`],
    [null, 'it is null, expected an object'],
  ])('that does not fit is INVALID_PAYLOAD, naming field and value: %o', (payload, said) => {
    const { code, message } = thrownBy(() => parseInput(of(input, z.unknown()), payload));
    expect(code).toBe('INVALID_PAYLOAD');
    expect(message).toContain('The payload does not fit "tests.one": ');
    expect(message).toContain(said);
  });

  it('over which the code of its schema throws does not fit', () => {
    const parsed = of(
      z.string().transform((text) => JSON.parse(text) as unknown),
      z.unknown(),
    );
    const { code, message } = thrownBy(() => parseInput(parsed, '{'));
    expect(code).toBe('INVALID_PAYLOAD');
    expect(message).toContain('it is "{": Its schema throws: ');
  });

  it('whose schema turns out to be asynchronous is refused, saying so', () => {
    const hidden = of(
      z.string().refine((text) => Promise.resolve(text !== '')),
      z.unknown(),
    );
    const { code, message } = thrownBy(() => parseInput(hidden, 'moon'));
    expect(code).toBe('INVALID_OPTIONS');
    expect(message).toContain('capability "tests.one".input is "asynchronous"');
  });
});

describe('An output', () => {
  it('is what the schema makes of it, or REFUSED, naming agent, capability, field and value', () => {
    const declared = of(z.unknown(), z.object({ n: z.number() }));
    expect(parseOutput(declared, { n: 1, extra: 1 }, 'moon')).toEqual({ n: 1 });
    const { code, message, details } = thrownBy(() => parseOutput(declared, { n: 'no number' }, 'moon'));
    expect(code).toBe('REFUSED');
    const issues = 'n is "no number", expected a number';
    expect(message).toBe(`The answer of moon does not fit "tests.one": ${issues}`);
    expect(details).toEqual({ agentId: 'moon', capability: 'tests.one', issues });
  });
});

describe('The types of a capability', () => {
  const turned = capability({
    id: 'tests.turned',
    description: 'Differs on all four sides',
    input: z.object({ n: z.number().default(3), text: z.string().transform((text) => text.length) }),
    output: z.object({
      note: z
        .string()
        .default('none')
        .transform((note) => note.length),
    }),
  });
  interface Sent {
    n?: number | undefined;
    text: string;
  }

  it('are what is sent and what is got for the asker', () => {
    type AskedFor<T> = T extends Target<infer Input, infer Output> ? [Input, Output] : never;
    expectTypeOf<AskedFor<typeof turned>>().toEqualTypeOf<[Sent, { note: number }]>();
    const ask = (system: System) => system.ask({ agent: 'a', capability: turned }, { text: 'moon' });
    expectTypeOf(ask).returns.resolves.toEqualTypeOf<{ note: number }>();
    const read = (system: System) => system.stream(turned, { n: 1, text: 'moon' });
    expectTypeOf(read).returns.toEqualTypeOf<AsyncIterable<{ note: number }>>();
    // @ts-expect-error what the handler gets is not what is sent
    void ((system: System) => system.ask(turned, { n: 1, text: 4 }));
    // @ts-expect-error likewise for a tell
    void ((system: System) => system.tell(turned, { n: 1, text: 4 }));
  });

  it('are what was parsed and what is given for the handler', () => {
    const made: AgentDefinition = defineAgent({
      id: 'a',
      name: 'A',
      version: '1.0.0',
      description: 'Turns',
      tier: 2,
    }).handle(turned, (input) => {
      expectTypeOf(input).toEqualTypeOf<{ n: number; text: number }>();
      return {};
    });
    expect(made.handlers.has('tests.turned')).toBe(true);
    // @ts-expect-error what the asker gets is not what the handler gives
    void ((agent: AgentDefinition) => agent.handle(turned, () => ({ note: 4 })));
    // @ts-expect-error nor is it for a stream
    void ((agent: AgentDefinition) => agent.handleStream(turned, () => [{ note: 4 }]));
  });
});
