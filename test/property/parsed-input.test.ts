import { capability, defineAgent, startSystem, type System } from 'orrery';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { arbJson, arbText } from './arbitraries/json.ts';

const Input = z.object({
  name: z.string().transform((name) => ({ name, length: name.length })),
  n: z.number().default(3),
  tags: z.array(z.string().trim()).optional(),
  either: z.union([z.boolean(), z.object({ deep: z.json() })]).nullable(),
  anything: z.unknown(),
});
const take = capability({
  id: 'property.take',
  description: 'Takes',
  input: Input,
  output: z.json().transform((value) => ({ value })),
});

const arbInput = (): fc.Arbitrary<z.input<typeof Input>> =>
  fc.record(
    {
      name: arbText(),
      n: fc.integer(),
      tags: fc.array(arbText()),
      either: fc.oneof(fc.boolean(), fc.constant(null), fc.record({ deep: arbJson() })),
      anything: arbJson(),
      more: arbJson(),
    },
    { requiredKeys: ['name', 'either', 'anything'], noNullPrototype: true },
  ) as fc.Arbitrary<z.input<typeof Input>>;

describe('What a handler gets', () => {
  const got: unknown[] = [];
  let system: System;

  beforeAll(async () => {
    const taker = defineAgent({
      id: 'taker',
      name: 'T',
      version: '1.0.0',
      description: 'Takes',
      tier: 2,
    }).handle(take, (input) => {
      got.push(input);
      return JSON.parse(JSON.stringify(input)) as never;
    });
    system = await startSystem({ agents: [taker], workers: 1 });
  });
  afterAll(() => system.stop());

  it('is exactly what the schema makes of any JSON that fits it, and the asker gets what it makes of the answer', async () => {
    await fc.assert(
      fc.asyncProperty(arbInput(), async (input) => {
        got.length = 0;
        const answer = await system.ask(take, input);
        const parsed = Input.parse(input);
        expect(got).toEqual([parsed]);
        expect(answer).toEqual(take.output.parse(JSON.parse(JSON.stringify(parsed))));
      }),
      { numRuns: 200 },
    );
  });
});
