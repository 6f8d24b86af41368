// A program that speaks MCP on standard input and output, and dies of one of its tools.
import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

serveStdio(() => {
  const server = new McpServer({ name: 'clock', version: '1.0.0' });
  server.registerTool('weekday', { inputSchema: z.object({ date: z.iso.date() }) }, ({ date }) => ({
    content: [
      { type: 'text', text: new Date(date).toLocaleDateString('en', { weekday: 'long', timeZone: 'UTC' }) },
    ],
  }));
  server.registerTool('stop_the_clock', { inputSchema: z.object({}) }, () => process.exit(1));
  return server;
});
