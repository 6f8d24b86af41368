import fc from 'fast-check';
import { z } from 'zod';
import { ERROR_CODES } from '../../../runtime/protocol/errors.ts';
import type { ToolAnnotations, ToolInvocation } from '../../../runtime/protocol/tool.ts';
import { withoutProto } from './json.ts';

const word = fc.stringMatching(/^[A-Za-z0-9_-]{1,12}$/);

/** `mars`, `mars.back-end`: what stands before the tool's name. */
export const arbAgentId = fc.array(word, { minLength: 1, maxLength: 3 }).map((words) => words.join('.'));
export const arbToolName = fc.array(word, { minLength: 1, maxLength: 3 }).map((words) => words.join('.'));

const SCHEMAS = [
  { schema: z.object({ root: z.string() }), sample: { root: '.' }, wrong: { root: 1 } },
  { schema: z.object({ depth: z.int(), deep: z.boolean().optional() }), sample: { depth: 3 }, wrong: {} },
  { schema: z.object({ items: z.array(z.number()) }), sample: { items: [1, 2.5] }, wrong: { items: 'x' } },
  { schema: z.object({}), sample: {}, wrong: 5 },
] as const;

/** A schema, a value that fits it, and one that does not. */
export const arbSchema = fc.constantFrom(...SCHEMAS);

export const arbAnnotations: fc.Arbitrary<ToolAnnotations> = fc.record(
  { readOnly: fc.boolean(), destructive: fc.boolean(), idempotent: fc.boolean(), openWorld: fc.boolean() },
  { requiredKeys: [] },
);

/** Tools of several agents; names may come twice. */
export const arbMCPToolDefinition = () =>
  fc.record({
    agentId: arbAgentId,
    name: arbToolName,
    title: fc.string({ minLength: 1 }),
    description: fc.string(),
    input: arbSchema,
    output: arbSchema,
    annotations: arbAnnotations,
  });

/** JSON, as it is once it has been text. */
export const arbJson = fc
  .jsonValue({ maxDepth: 3 })
  .map((value) => JSON.parse(JSON.stringify(value)) as z.core.util.JSONType);

export const arbInvocation: fc.Arbitrary<ToolInvocation> = fc
  .record({
    tool: fc.string(),
    agentId: fc.string(),
    arguments: arbJson,
    outcome: fc.oneof(
      fc.record({ result: arbJson }),
      fc.constant({}),
      fc
        .record({
          code: fc.constantFrom(...ERROR_CODES),
          message: fc.string(),
          details: fc.option(withoutProto(fc.dictionary(fc.string(), arbJson)), { nil: undefined }),
        })
        .map(({ details, ...error }) => ({ error: details === undefined ? error : { ...error, details } })),
    ),
    startedAtMs: fc.nat(),
    durationMs: fc.double({ min: 0, max: 1e9, noNaN: true }).map(Math.abs),
  })
  .map(({ outcome, ...call }) =>
    'error' in outcome
      ? { ...call, error: { ...outcome.error, agentId: call.agentId } }
      : { ...call, ...outcome },
  );
