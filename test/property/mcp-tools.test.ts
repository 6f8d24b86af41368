import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { Catalogue, offersOf } from '../../actors/tools/catalogue.ts';
import { deserialiseInvocation, serialiseInvocation } from '../../actors/tools/invocation-log.ts';
import { ToolHost } from '../../actors/tools/tool-host.ts';
import { A2AObservability } from '../../runtime/observe/observability.ts';
import { defineAgent } from '../../runtime/agent/agent-definition.ts';
import { capability } from '../../runtime/protocol/capability.ts';
import type { ResourceContent } from '../../runtime/protocol/tool.ts';
import { ToolNames } from '../../runtime/protocol/tool-names.ts';
import { rejection } from '../fixtures/until.ts';
import { arbAgentId, arbInvocation, arbJson, arbMCPToolDefinition } from './arbitraries/tool.ts';

const RUNS = { numRuns: 200 };
const arbTools = fc.uniqueArray(arbMCPToolDefinition(), {
  maxLength: 12,
  selector: ({ agentId, name }) => `${agentId}.${name}`,
});
type Defined = typeof arbTools extends fc.Arbitrary<(infer One)[]> ? One : never;

const registrationOf = ({ agentId, name, title, description, input, output, annotations }: Defined) => ({
  agentId,
  name,
  title,
  description,
  annotations,
  inputSchema: input.schema as z.ZodType,
  outputSchema: output.schema as z.ZodType,
});

const listed = ({ agentId, name, title, description, input, output }: Defined) => ({
  name: `${agentId}.${name}`,
  title,
  description,
  agentId,
  capability: name,
  inputSchema: z.toJSONSchema(input.schema, { io: 'input' }),
  outputSchema: z.toJSONSchema(output.schema, { io: 'output' }),
});

/** To say that a tool is not destructive, or reaches nothing beyond, is more than to say nothing. */
const saysSomething = ([name, is]: [string, boolean | undefined]): boolean =>
  is === true || (is === false && (name === 'destructive' || name === 'openWorld'));

const codeOf = (work: () => unknown): string => {
  try {
    work();
  } catch (error) {
    return (error as { code: string }).code;
  }
  return 'nothing was thrown';
};

describe('MCP tools, resources and prompts (N-P18, N-P19, N-P20, N-P21, N-P22, N-P33, N-P34, N-12.2, N-12.5, N-13.4, N-13.5, N-E08)', () => {
  it('Feature: a2a-mcp-protocols, Property 18: MCP tool registration and listing', () => {
    fc.assert(
      fc.property(arbTools, (tools) => {
        const host = new ToolHost();
        for (const tool of tools) host.registerTool(registrationOf(tool), () => tool.output.sample as never);
        expect(host.tools()).toHaveLength(tools.length);
        // Each agent's tools are together, in the order of the agents.
        const byName = new Map(host.tools().map((tool) => [tool.name, tool]));
        for (const tool of tools) {
          expect(byName.get(`${tool.agentId}.${tool.name}`)).toMatchObject(listed(tool));
          expect(host.tool(`${tool.agentId}.${tool.name}`)?.annotations).toEqual(
            Object.fromEntries(Object.entries(tool.annotations).filter(saysSomething)),
          );
        }
        expect(host.tools()).toBe(host.tools());
      }),
      RUNS,
    );
  });

  it('Property 18 holds for the cards of a running system, too', () => {
    fc.assert(
      fc.property(arbTools, (tools) => {
        const agents = Map.groupBy(tools, ({ agentId }) => agentId);
        const cards = [...agents].map(([id, its]) => {
          const definition = defineAgent({ id, name: id, version: '1.0.0', description: '', tier: 2 });
          for (const { name, title, description, input, output } of its)
            definition.handle(
              capability({
                id: name,
                name: title,
                description,
                input: input.schema as z.ZodType,
                output: output.schema as z.ZodType,
              }),
              () => output.sample,
            );
          return definition.card(0);
        });
        const catalogue = new Catalogue(cards.map(offersOf));
        expect(catalogue.tools).toHaveLength(tools.length);
        for (const tool of tools)
          expect(catalogue.tool(`${tool.agentId}.${tool.name}`)).toMatchObject(listed(tool));
        // The same cards are the same list.
        expect(new Catalogue([...cards].map(offersOf), catalogue).changesSince(catalogue)).toEqual(
          tools.length === 0 ? [] : ['tools'],
        );
      }),
      { numRuns: 100 },
    );
  });

  it('Feature: a2a-mcp-protocols, Property 19: MCP tool invocation routing', async () => {
    await fc.assert(
      fc.asyncProperty(arbTools, fc.nat(), async (tools, seed) => {
        fc.pre(tools.length > 0);
        const host = new ToolHost();
        const called: string[] = [];
        for (const tool of tools) {
          host.registerTool(registrationOf(tool), (input, { agentId }) => {
            expect(input).toEqual(tool.input.sample);
            called.push(`${agentId} ${tool.name}`);
            return tool.output.sample as never;
          });
        }
        const chosen = tools[seed % tools.length] as Defined;
        const full = `${chosen.agentId}.${chosen.name}`;
        expect(await host.call(full, chosen.input.sample)).toEqual(chosen.output.sample);
        const portable = new ToolNames(host.tools()).portable(host.tool(full) as never);
        expect(await host.executor(portable, chosen.input.sample)).toEqual(chosen.output.sample);
        expect(called).toEqual([`${chosen.agentId} ${chosen.name}`, `${chosen.agentId} ${chosen.name}`]);
        expect((await rejection(host.call(full, chosen.input.wrong))).code).toBe('INVALID_PAYLOAD');
        expect(called).toHaveLength(2);
      }),
      RUNS,
    );
  });

  it('Feature: a2a-mcp-protocols, Property 20: MCP tool name uniqueness', () => {
    fc.assert(
      fc.property(arbTools, arbMCPToolDefinition(), fc.nat(), (tools, again, seed) => {
        fc.pre(tools.length > 0);
        const host = new ToolHost();
        host.registerTools(tools.map((tool) => ({ ...registrationOf(tool), handler: () => ({}) })));
        const former = host.tools();
        const { agentId, name } = tools[seed % tools.length] as Defined;
        const second = registrationOf({ ...again, agentId, name });
        let error: unknown;
        try {
          // What comes with it is not registered either.
          const other = registrationOf({ ...again, agentId: 'newcomer', name: 'new' });
          host.registerTools([other, second].map((one) => ({ ...one, handler: () => ({}) })));
        } catch (thrown) {
          error = thrown;
        }
        expect(error).toMatchObject({
          code: 'DUPLICATE_TOOL',
          details: { name: `${agentId}.${name}`, agentId },
        });
        expect((error as Error).message).toContain(`"${agentId}.${name}"`);
        expect(host.tools()).toBe(former);
      }),
      RUNS,
    );
  });

  it('Feature: a2a-mcp-protocols, Property 21: MCP resource registration and read round trip', async () => {
    const arbContent = fc.oneof(
      fc.string({ unit: 'grapheme' }).map((text) => ({ given: text, expected: { text } })),
      fc.uint8Array().map((bytes) => ({
        given: bytes,
        expected: { blob: Buffer.from(bytes).toString('base64') },
      })),
      fc.string().map((text) => ({ given: { text }, expected: { text } })),
    );
    const arbResources = fc.uniqueArray(
      fc.record({
        path: fc.stringMatching(/^[a-z0-9]{1,10}$/),
        name: fc.string({ minLength: 1 }),
        mimeType: fc.constantFrom('text/plain', 'text/markdown', 'application/json', 'image/png'),
        content: arbContent,
      }),
      { minLength: 1, maxLength: 6, selector: ({ path }) => path },
    );
    await fc.assert(
      fc.asyncProperty(arbResources, arbAgentId, async (resources, agentId) => {
        const host = new ToolHost();
        const loads: string[] = [];
        for (const { path, name, mimeType, content } of resources) {
          host.registerResource(agentId, { uri: `test://${path}`, name, mimeType }, ({ uri }) => {
            loads.push(uri);
            return content.given;
          });
        }
        expect(host.resources()).toEqual(
          resources.map(({ path, name, mimeType }) => ({ uri: `test://${path}`, name, mimeType, agentId })),
        );
        for (const { path, mimeType, content } of resources) {
          const expected = { uri: `test://${path}`, mimeType, ...content.expected } as ResourceContent;
          expect(await host.read(`test://${path}`)).toEqual([expected]);
        }
        expect(loads).toEqual(resources.map(({ path }) => `test://${path}`));
        expect(await rejection(host.read('test://UNKNOWN'))).toEqual({
          code: 'RESOURCE_NOT_FOUND',
          message: 'There is no resource test://UNKNOWN',
        });
      }),
      RUNS,
    );
  });

  it('Feature: a2a-mcp-protocols, Property 22: MCP prompt template substitution', async () => {
    const arbBlanks = fc.uniqueArray(
      fc.record({
        name: fc.stringMatching(/^[A-Za-z][A-Za-z0-9_ -]{0,8}[a-z]$/),
        value: fc.oneof(fc.string(), fc.constantFrom('{{x}}', '$&', '$1', '{{ name }}')),
        before: fc.string().map((text) => text.replaceAll(/[{}]/g, '')),
        isPadded: fc.boolean(),
      }),
      { maxLength: 8, selector: ({ name }) => name },
    );
    await fc.assert(
      fc.asyncProperty(arbBlanks, fc.nat(), async (blanks, seed) => {
        const host = new ToolHost();
        const template = blanks
          .map(({ name, before, isPadded }) => `${before}{{${isPadded ? ` ${name} ` : name}}}`)
          .join('');
        const args = blanks.map(({ name }) => ({ name, required: true }));
        host.registerPrompt('agent', { name: 'text', arguments: args }, template);
        const given = Object.fromEntries(blanks.map(({ name, value }) => [name, value]));
        const expected = blanks.map(({ before, value }) => `${before}${value}`).join('');
        expect(await host.render('agent.text', given)).toEqual({
          messages: [{ role: 'user', content: { type: 'text', text: expected } }],
        });
        // A placeholder that is no argument is refused at once, whichever it is.
        const missing = blanks[seed % Math.max(1, blanks.length)]?.name;
        if (missing === undefined) return;
        const fewer = args.filter(({ name }) => name !== missing);
        expect(
          codeOf(() => host.registerPrompt('agent', { name: 'fewer', arguments: fewer }, template)),
        ).toBe('INVALID_OPTIONS');
        const { [missing]: _, ...rest } = given;
        const refused = await rejection(host.render('agent.text', rest));
        expect(refused).toMatchObject({ code: 'INVALID_PAYLOAD', message: expect.stringContaining(missing) });
      }),
      RUNS,
    );
  });

  it('Feature: a2a-mcp-protocols, Property 33: MCP tool invocation metrics accuracy', async () => {
    const arbCalls = fc.array(fc.tuple(fc.constantFrom('a.one', 'a.two', 'b.one', 'b.bad'), fc.nat(20)), {
      maxLength: 40,
      size: 'max',
    });
    await fc.assert(
      fc.asyncProperty(arbCalls, async (calls) => {
        const observability = new A2AObservability();
        let nowMs = 0;
        const clock = { now: () => nowMs, monotonicMs: () => nowMs, setTimer: () => () => undefined };
        const host = new ToolHost({ observability, clock });
        const schemas = { inputSchema: z.object({ takes: z.int() }), outputSchema: z.object({}) };
        for (const [agentId, name] of [
          ['a', 'one'],
          ['a', 'two'],
          ['b', 'one'],
          ['b', 'bad'],
        ] as const)
          host.registerTool({ agentId, name, description: '', ...schemas }, ({ takes }) => {
            nowMs += takes;
            if (name === 'bad') throw new Error('not today');
            return {};
          });
        for (const [name, takes] of calls) await host.call(name, { takes }).catch(() => undefined);
        await host.call('a.none', {}).catch(() => undefined);
        const byTool = Object.fromEntries(
          [...Map.groupBy(calls, ([name]) => name)].map(([name, its]) => [name, its.length]),
        );
        const totalMs = calls.reduce((sum, [, takes]) => sum + takes, 0);
        expect(observability.getMetrics()).toMatchObject({
          totalToolInvocations: calls.length,
          toolInvocationsByTool: byTool,
          toolErrorCount: byTool['b.bad'] ?? 0,
        });
        const average = calls.length === 0 ? 0 : totalMs / calls.length;
        expect(observability.getMetrics().averageToolDurationMs).toBeCloseTo(average);
        expect(
          observability
            .getRecentEvents()
            .map(({ type, toolName, agentId, duration, success }) => [
              type,
              toolName,
              agentId,
              duration,
              success,
            ]),
        ).toEqual(calls.map(([name, takes]) => ['tool-invocation', name, name[0], takes, name !== 'b.bad']));
        expect(host.invocations().map(({ tool }) => tool)).toEqual(calls.map(([name]) => name));
      }),
      RUNS,
    );
  });

  it('Feature: a2a-mcp-protocols, Property 34: MCP invocation record serialization round trip', () => {
    fc.assert(
      fc.property(arbInvocation, (record) => {
        expect(deserialiseInvocation(serialiseInvocation(record))).toEqual(record);
      }),
      { numRuns: 500 },
    );
  });

  it('Property 34 holds for the records that calls leave', async () => {
    await fc.assert(
      fc.asyncProperty(arbJson, arbJson, fc.boolean(), async (given, made, fails) => {
        const host = new ToolHost();
        const any = { inputSchema: z.unknown(), outputSchema: z.unknown() };
        host.registerTool({ agentId: 'a', name: 'any', description: '', ...any }, () => {
          if (fails) throw new Error('not today');
          return made as never;
        });
        await host.call('a.any', given).catch(() => undefined);
        const [record] = host.invocations();
        expect(record).toMatchObject({ tool: 'a.any', agentId: 'a', arguments: given });
        expect(record?.result).toEqual(fails ? undefined : made);
        expect(deserialiseInvocation(serialiseInvocation(record as never))).toEqual(record);
      }),
      { ...RUNS, examples: [[JSON.parse('{"__proto__":""}'), [], false]] },
    );
  });
});
