import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { McpOptions } from 'orrery/gateway';
import { startSystem, type Team } from 'orrery';
import { capability, defineAgent } from 'orrery';
import { modernRpc } from '../../fixtures/mcp/raw-mcp.ts';
import { begunSession } from '../../fixtures/mcp/raw-session.ts';

const opened: Team[] = [];
const clients: Client[] = [];
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close().catch(() => undefined);
  for (const system of opened.splice(0)) await system.stop({ drainMs: 0 });
});

const Input = z.object({
  region: z.string().meta({ 'x-mcp-header': 'Region' }),
  limits: z.object({ rows: z.int().meta({ 'x-mcp-header': 'Rows' }).optional() }).optional(),
  dry: z.boolean().meta({ 'x-mcp-header': 'Dry' }).optional(),
});
const find = capability({ id: 'find', description: 'Finds', input: Input, output: z.string() });
const bare = capability({
  id: 'bare',
  description: 'Takes a text',
  input: z.string().meta({ 'x-mcp-header': 'Word' }),
  output: z.string(),
});

async function served(mcp: McpOptions = {}): Promise<string> {
  const clerk = defineAgent({ id: 'clerk', name: 'CLERK', version: '1.0.0', description: 'Finds', tier: 3 })
    .handle(find, ({ region }) => `found in ${region}`)
    .handle(bare, (word) => word);
  const system = await startSystem({ agents: [clerk], workers: 1, spareThread: false });
  opened.push(system);
  return (await system.serve({ mcp })).url;
}

const call = (url: string, args: object, headers: Record<string, string>, name = 'clerk.find', more = {}) =>
  modernRpc(url, 'tools/call', { name, arguments: args, ...more }, { headers });
const base64 = (said: string) => `=?base64?${Buffer.from(said).toString('base64')}?=`;

describe('An argument that is said in a header as well (N-D11)', () => {
  it('is listed with its capability, and the published client says it', async () => {
    const url = await served();
    const client = new Client({ name: 'trial', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } });
    clients.push(client);
    const said: Record<string, string | null>[] = [];
    const transport = new StreamableHTTPClientTransport(new URL(`${url}/mcp`), {
      fetch: (at, init) => {
        const headers = new Headers(init?.headers);
        if (headers.get('mcp-method') === 'tools/call')
          said.push({ region: headers.get('mcp-param-region'), rows: headers.get('mcp-param-rows') });
        return fetch(at, init);
      },
    });
    await client.connect(transport);
    const { tools } = await client.listTools();
    expect(tools.find(({ name }) => name === 'clerk.find')?.inputSchema.properties).toMatchObject({
      region: { type: 'string', 'x-mcp-header': 'Region' },
    });
    const args = { region: 'Zürich', limits: { rows: 7 }, dry: true };
    expect(await client.callTool({ name: 'clerk.find', arguments: args })).toMatchObject({
      structuredContent: { result: 'found in Zürich' },
    });
    expect(said).toEqual([{ region: base64('Zürich'), rows: '7' }]);
  });

  const region = 'mcp-param-region';
  it.each([
    { what: 'the same', args: { region: 'north' }, headers: { [region]: 'north' } },
    { what: 'the same in Base64', args: { region: ' nörd' }, headers: { [region]: base64(' nörd') } },
    {
      what: 'the same number, otherwise',
      args: { region: 'n', limits: { rows: 42 } },
      headers: { [region]: 'n', 'mcp-param-rows': '42.0' },
    },
    {
      what: 'what no argument says',
      args: { region: 'n' },
      headers: { [region]: 'n', 'mcp-param-dry': 'true' },
    },
  ])('is taken when its header says $what', async ({ args, headers }) => {
    const { status, json } = await call(await served(), args, headers as Record<string, string>);
    expect(status).toBe(200);
    expect(json).toMatchObject({ result: { structuredContent: { result: `found in ${args.region}` } } });
  });

  it.each([
    { what: 'is missing', args: { region: 'north' }, headers: {}, header: 'Mcp-Param-Region' },
    {
      what: 'says something else',
      args: { region: 'north' },
      headers: { [region]: 'south' },
      header: 'Mcp-Param-Region',
    },
    {
      what: 'is no Base64',
      args: { region: 'Hello' },
      headers: { [region]: '=?base64?SGVsbG8?=' },
      header: 'Mcp-Param-Region',
    },
    {
      what: 'has another number',
      args: { region: 'n', limits: { rows: 42 } },
      headers: { [region]: 'n', 'mcp-param-rows': '43' },
      header: 'Mcp-Param-Rows',
    },
    {
      what: 'is another truth',
      args: { region: 'n', dry: false },
      headers: { [region]: 'n', 'mcp-param-dry': 'true' },
      header: 'Mcp-Param-Dry',
    },
  ])('is refused as a mismatch when its header $what', async ({ args, headers, header }) => {
    const url = await served();
    // As almost all requests are, and as one that is looked at twice.
    for (const more of [{}, { task: {} }]) {
      const { status, json } = await call(url, args, headers as Record<string, string>, 'clerk.find', more);
      expect(status).toBe(400);
      expect(json).toMatchObject({ id: 1, error: { code: -32020, data: { mismatch: { header } } } });
    }
  });

  it('stands in the field that an input has which is no object', async () => {
    const url = await served();
    const same = await call(url, { input: 'x' }, { 'mcp-param-word': 'x' }, 'clerk.bare');
    expect(same.json).toMatchObject({ result: { structuredContent: { result: 'x' } } });
    const other = await call(url, { input: 'x' }, { 'mcp-param-word': 'y' }, 'clerk.bare');
    expect(other.json).toMatchObject({ error: { code: -32020 } });
  });

  it('needs no header where tools are found and not listed, nor in older revisions', async () => {
    const url = await served({ searchAbove: 1 });
    const found = await call(url, { region: 'n' }, {});
    expect(found.json).toMatchObject({ result: { structuredContent: { result: 'found in n' } } });
    expect((await call(url, { region: 'n' }, { [region]: 's' })).status).toBe(400);
    const session = await begunSession(await served());
    const { result } = await session.rpc('tools/call', { name: 'clerk.find', arguments: { region: 'n' } });
    expect(result).toMatchObject({ structuredContent: { result: 'found in n' } });
  });
});
