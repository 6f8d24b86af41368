import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { AGENT, DESCRIPTION, orderIn, Sum, Summands, toolNames } from './server-order.ts';

// The published SDK as its guide shows it: a server for each request, whose tools are registered with it.

const names = toolNames(orderIn(process.argv).tools);

const handler = createMcpHandler(() => {
  const server = new McpServer({ name: 'bench', version: '1.0.0' });
  for (const name of names)
    server.registerTool(
      `${AGENT}.${name}`,
      { description: DESCRIPTION, inputSchema: Summands, outputSchema: Sum },
      ({ a, b }) => {
        const sum = { sum: a + b };
        return { content: [{ type: 'text', text: JSON.stringify(sum) }], structuredContent: sum };
      },
    );
  return server;
});

const http = createServer(getRequestListener((request) => handler.fetch(request)));
http.listen(0, '127.0.0.1');
await once(http, 'listening');
console.log(JSON.stringify({ url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp` }));

process.stdin.on('end', () => process.exit(0)).resume();
