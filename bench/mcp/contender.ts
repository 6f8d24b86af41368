import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Pool } from 'undici';
import { z } from 'zod';
import type { Contender } from '../measurement.ts';
import { pipelined } from '../pipelined.ts';
import { AGENT, type McpOrder, toolNames } from './server-order.ts';

/** So many calls are under way at once, each on a connection of its own that is kept open. */
const CONNECTIONS = 32;
const REVISION = '2026-07-28';

const MODULES = {
  sdk: new URL('./sdk-server.ts', import.meta.url),
  orrery: new URL('./orrery-server.ts', import.meta.url),
} as const;

/** A server in a process of its own, whose tools are called over 32 connections from this one, one after the other. */
export const mcpServed = (name: string, server: keyof typeof MODULES, order: McpOrder): Contender => ({
  name,
  packages: ['@modelcontextprotocol/server'],
  open: async () => {
    const { url, close } = await startServer(MODULES[server], order);
    const { origin, pathname } = new URL(url);
    const pool = new Pool(origin, { connections: CONNECTIONS, pipelining: 1 });
    const names = toolNames(order.tools);
    let at = 0;
    const call = async (): Promise<void> => {
      at = (at + 1) % names.length;
      const mine = at;
      const tool = `${AGENT}.${names[mine]}`;
      const { body } = await pool.request({
        path: pathname,
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          'mcp-protocol-version': REVISION,
          'mcp-method': 'tools/call',
          'mcp-name': tool,
        },
        body: JSON.stringify(callOf(tool, mine)),
      });
      const answer = await body.text();
      if (!answer.includes(`"sum":${mine + 1}`)) throw new Error(`It was answered: ${answer}`);
    };
    return {
      run: (count) => pipelined(count, CONNECTIONS, call),
      close: async () => {
        await pool.close();
        await close();
      },
    };
  },
});

const callOf = (name: string, a: number) => ({
  jsonrpc: '2.0',
  id: a + 1,
  method: 'tools/call',
  params: {
    name,
    arguments: { a, b: 1 },
    _meta: {
      'io.modelcontextprotocol/protocolVersion': REVISION,
      'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1.0.0' },
      'io.modelcontextprotocol/clientCapabilities': {},
    },
  },
});

const Listening = z.strictObject({ url: z.url() });

async function startServer(module: URL, order: McpOrder) {
  const profile = process.env['BENCH_PROFILE'];
  const profiling = profile === undefined ? [] : ['--cpu-prof', '--cpu-prof-dir', profile];
  const args = [...process.execArgv, ...profiling, fileURLToPath(module), JSON.stringify(order)];
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  for await (const line of createInterface({ input: child.stdout }))
    return {
      ...Listening.parse(JSON.parse(line)),
      close: async (): Promise<void> => {
        const gone = once(child, 'exit');
        child.stdin.end();
        await gone;
      },
    };
  throw new Error('The server ended before it listened');
}
