import { describe, expect, it } from 'vitest';
import { MountedServer } from '../../../../actors/mcp-servers/mounted-server.ts';
import { AgentDefinition } from '../../../../runtime/agent/agent-definition.ts';
import type { McpListener, McpTool } from '../../../../runtime/protocol/mcp-link.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';

const tool = (name: string): McpTool => ({
  name,
  title: undefined,
  description: name,
  inputSchema: { type: 'object' },
  outputSchema: undefined,
  annotations: {},
});

describe('A mounted MCP server', () => {
  it('that offers other tools each time it is looked at is not remembered for ever', async () => {
    const clock = new FakeClock();
    let listener: McpListener | undefined;
    let lists = 0;
    const nothing = { resources: [], resourceTemplates: [], prompts: [], left: [] };
    const listed = (list: number) => Array.from({ length: 100 }, (_, at) => tool(`tool-${list}-${at}`));
    const connection = {
      identity: { name: 'shifty', version: '1', protocolVersion: '1' },
      lost: new Promise(() => undefined),
      offer: async () => ({ ...nothing, tools: listed(++lists) }),
      watch: () => undefined,
      close: async () => undefined,
    };
    const definition = new AgentDefinition<MountedServer>({
      id: 'shifty',
      name: 'SHIFTY',
      version: '1.0.0',
      description: 'Shifts',
      tier: 3,
    });
    const server = new MountedServer({
      dialer: {
        target: 'shifty',
        connect: async (given: McpListener) => {
          listener = given;
          return connection as never;
        },
      },
      clock,
      settings: { privileged: [], catalogue: {} } as never,
      definition,
      client: { agentId: 'shifty', note: () => undefined, offer: () => undefined } as never,
    });
    const { signal } = new AbortController();
    await server.start({ signal, self: 'shifty', markOutside: () => undefined } as never);
    for (let change = 0; change < 30; change += 1) {
      listener?.onChange('tools');
      await clock.advanceAsync(1_000);
    }
    expect(lists).toBe(31);
    const ids = [...definition.handlers.keys()];
    expect(ids).toHaveLength(1_100);
    // Those there are, and those that went last.
    expect(ids.slice(0, 101)).toContain('tool-31-99');
    expect(ids).toContain('tool-30-0');
    expect(ids).not.toContain('tool-1-0');
    await server.stop();
  });

  it('has marked what it says before it says anything, also why it does not start (F-09)', async () => {
    const marked: string[] = [];
    const server = new MountedServer({
      dialer: {
        target: 'shifty',
        connect: async () => {
          throw new Error(`there is no such database, and ${marked.length} marks`);
        },
      },
      clock: new FakeClock(),
      settings: { privileged: [], catalogue: {} } as never,
      definition: {} as never,
      client: {} as never,
    });
    const markOutside = (source: string): unknown => marked.push(source);
    const { signal } = new AbortController();
    await expect(server.start({ signal, self: 'shifty', markOutside } as never)).rejects.toThrow(
      'and 1 marks',
    );
    expect(marked).toEqual(['mcp:shifty']);
  });
});
