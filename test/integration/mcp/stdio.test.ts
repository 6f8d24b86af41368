import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { describe, expect, it } from 'vitest';
import { COMPILED, CONDITIONS } from '../../fixtures/conditions.ts';

const main = fileURLToPath(new URL('../../../apps/cli/main.ts', import.meta.url));
const agents = fileURLToPath(new URL('../../fixtures/mcp/conformance.agent.ts', import.meta.url));
const args = [...CONDITIONS, main, 'mcp', '--agents', agents];
const COMMAND = { command: process.execPath, env: COMPILED };

describe('orrery mcp (N-D11)', () => {
  it.each([
    { era: 'auto', revision: '2026-07-28' },
    { era: 'legacy', revision: '2025-11-25' },
  ] as const)(
    'serves a client of $revision, and asks it for what a tool wants',
    async ({ era, revision }) => {
      const client = new Client(
        { name: 'trial', version: '1.0.0' },
        {
          capabilities: { elicitation: {} },
          ...(era === 'auto' ? { versionNegotiation: { mode: 'auto' as const } } : {}),
        },
      );
      client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: { name: 'Ada' } }));
      await client.connect(new StdioClientTransport({ ...COMMAND, args, stderr: 'ignore' }));
      try {
        expect(client.getNegotiatedProtocolVersion()).toBe(revision);
        expect(await client.callTool({ name: 'fixture.greet', arguments: { name: 'you' } })).toMatchObject({
          content: [{ type: 'text', text: 'Hello, you!' }],
        });
        const asked = { name: 'fixture.test_input_required_result_elicitation', arguments: {} };
        expect(await client.callTool(asked)).toMatchObject({ content: [{ text: 'Hello, Ada!' }] });
      } finally {
        await client.close();
      }
    },
  );

  it('marks what its client says unless it is told to trust it, and says what nobody has approved (F-09)', async () => {
    const [marked, bad] = [
      '../../fixtures/mcp/marked.agent.ts',
      '../../fixtures/agents/mcp-bad.agent.ts',
    ].map((path) => fileURLToPath(new URL(path, import.meta.url)));
    const answers = async (...more: string[]) => {
      const words = [...CONDITIONS, main, 'mcp', '--agents', ...more];
      const transport = new StdioClientTransport({ ...COMMAND, args: words, stderr: 'pipe' });
      let errors = '';
      transport.stderr?.on('data', (chunk: Buffer) => {
        errors += chunk.toString();
      });
      const client = new Client({ name: 'trial', version: '1.0.0' });
      await client.connect(transport);
      try {
        const call = (tool: string) => client.callTool({ name: `marked.${tool}`, arguments: {} });
        return { taints: await call('taints'), act: await call('act'), errors };
      } finally {
        await client.close();
      }
    };
    const { taints, act, errors } = await answers(`${marked},${bad}`);
    expect(taints).toMatchObject({ structuredContent: { result: ['mcp:stdio'] } });
    expect(act).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('TAINTED') }] });
    expect(errors).toMatch(/bad offers is not approved.*catalogue: \{ approved: 'sha256:[0-9a-f]{64}' \}\n/);
    const trusted = await answers(`${marked}`, '--trust');
    expect(trusted).toMatchObject({
      taints: { structuredContent: { result: [] } },
      act: { structuredContent: { result: ['done'] } },
      errors: '',
    });
  });

  it('says nothing but messages, and ends by itself when its input does', async () => {
    const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'ignore'] });
    let said = '';
    child.stdout.on('data', (chunk: Buffer) => {
      said += chunk.toString();
    });
    const meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    const call = { name: 'fixture.slow_compute', arguments: { seconds: 600 } };
    const messages = [
      { jsonrpc: '2.0', id: 1, method: 'server/discover', params: { _meta: meta } },
      { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { ...call, _meta: meta } },
      { jsonrpc: '2.0', id: 3, method: 'tools/list', params: { _meta: meta } },
    ];
    child.stdin.write(messages.map((message) => `${JSON.stringify(message)}\n`).join(''));
    while (!said.includes('"id":3')) await once(child.stdout, 'data');
    child.stdin.end();
    const [code] = await once(child, 'close');
    expect(code).toBe(0);
    const lines = said.trimEnd().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as { jsonrpc: string }).jsonrpc)).toEqual(['2.0', '2.0']);
  });
});

describe('What is no message (N-D11)', () => {
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const list = { jsonrpc: '2.0', id: 'last', method: 'tools/list', params: { _meta: meta } };
  const deep = `{"jsonrpc":"2.0","id":9,"method":"ping","params":${'['.repeat(200)}${']'.repeat(200)}}`;

  const keys = Object.fromEntries(Array.from({ length: 20_001 }, (_, at) => [`k${at}`, 0]));
  const crowded = JSON.stringify({ jsonrpc: '2.0', id: 10, method: 'ping', params: keys });

  it('is answered over standard output with what is wrong with it, and what comes after it is served', async () => {
    const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'ignore'] });
    const lines = [
      'hello',
      '{"jsonrpc":"2.0","id":1',
      '',
      '  ',
      '7',
      '[]',
      '[{"jsonrpc":"2.0","id":1,"method":"ping"}]',
      '{"id":1,"method":"ping"}\r',
      '{"jsonrpc":"2.0","id":2}',
      '{"jsonrpc":"2.0","id":"x","method":"ping","params":7}',
      deep,
      crowded,
      JSON.stringify(list),
    ];
    let said = '';
    child.stdout.on('data', (chunk: Buffer) => {
      said += chunk.toString();
    });
    child.stdin.write(lines.map((line) => `${line}\n`).join(''));
    while (!said.includes('"id":"last"')) await once(child.stdout, 'data');
    child.stdin.end();
    const [code] = await once(child, 'close');
    expect(code).toBe(0);
    type Said = { jsonrpc: string; id: unknown; error?: { code: number }; result?: object };
    const answers = said
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Said);
    expect(answers.map(({ jsonrpc }) => jsonrpc)).toEqual(answers.map(() => '2.0'));
    expect(answers.map(({ id, error }) => [id, error?.code])).toEqual([
      [null, -32700],
      [null, -32700],
      [null, -32600],
      [null, -32600],
      [null, -32600],
      // It is a request, of which it can be told which one.
      [1, -32600],
      // It may be an answer, to a request of the server's.
      [null, -32600],
      ['x', -32600],
      [9, -32600],
      // Nothing is made of it, so nobody knows which it is.
      [null, -32600],
      ['last', undefined],
    ]);
  });
});
