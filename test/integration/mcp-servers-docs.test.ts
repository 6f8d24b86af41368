import { serve } from '@hono/node-server';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { program } from '../fixtures/mcp/mounted.ts';
import { pageOf, SampleFolder, samplesOf } from '../fixtures/samples.ts';

const folder = new SampleFolder();
const SAMPLES = samplesOf(pageOf('docs/mcp-servers.md')).map(({ code }) => code);

const source = (order: object): string => JSON.stringify(order).slice(1, -1);
/** The servers that the page speaks of are nowhere: here are others with such tools. */
const PROGRAMS = {
  "command: 'npx', args: ['-y', '@modelcontextprotocol/server-filesystem', '/srv/data']": 'read-server',
  "command: 'clerk-mcp'": 'asking-server',
};

/** What a sample says at its end, when `ending` is its last line. */
async function outputOf(sample: string, { url, before = '', ending }: Run): Promise<unknown> {
  let code = sample.replaceAll('https://search.example/mcp', url);
  for (const [written, name] of Object.entries(PROGRAMS)) code = code.replace(written, source(program(name)));
  folder.write('sample.ts', `${before}\n${code}\nconsole.log(JSON.stringify(${ending}));\n`);
  return JSON.parse(await folder.run('sample.ts'));
}

interface Run {
  readonly url: string;
  readonly before?: string;
  readonly ending: string;
}

describe('The samples of docs/mcp-servers.md', () => {
  const authorizations: unknown[] = [];
  let server: ReturnType<typeof serve>;
  let url: string;

  beforeAll(async () => {
    const handler = createMcpHandler(() => {
      const searching = new McpServer({ name: 'search', version: '1.0.0' }, { capabilities: { tools: {} } });
      const answer = (said: string) => ({ content: [{ type: 'text' as const, text: said }] });
      searching.registerTool('find', { inputSchema: z.object({ text: z.string() }) }, (input) =>
        answer(`found ${input.text}`),
      );
      searching.registerTool('crawl', { inputSchema: z.object({ site: z.string() }) }, ({ site }) =>
        answer(`crawled ${site}`),
      );
      return searching;
    });
    const fetch = (request: Request) => {
      authorizations.push(request.headers.get('authorization'));
      return handler.fetch(request);
    };
    server = serve({ fetch, port: 0, hostname: '127.0.0.1' });
    await once(server, 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  });
  afterAll(() => {
    server.close();
    folder[Symbol.dispose]();
  });

  it('are these four', () => {
    expect(SAMPLES).toHaveLength(4);
    for (const written of [...Object.keys(PROGRAMS), 'https://search.example/mcp'])
      expect(SAMPLES.some((sample) => sample.includes(written))).toBe(true);
  });

  it('the first mounts a program and a URL, and calls a tool', async () => {
    const before = "process.env['TOKEN'] = 'hush';";
    const answer = await outputOf(SAMPLES[0] as string, { url, before, ending: 'answer' });
    expect(answer).toEqual({ content: [{ type: 'text', text: 'what /srv/data/a.txt says' }] });
    expect(authorizations).toContain('Bearer hush');
  });

  it('the second mounts a server twice, for two calls at once', async () => {
    const ending = '[found, crawled].map(({ content }) => content[0].text)';
    expect(await outputOf(SAMPLES[1] as string, { url, ending })).toEqual([
      'found orrery',
      'crawled https://example.org',
    ]);
  });

  it('the third answers what the server asks', async () => {
    const ending = `await (async () => {
      const { toolsOf } = await import('orrery/tools');
      const answers = [];
      for (const tool of ['elicit', 'sample', 'roots'])
        answers.push(JSON.parse((await toolsOf(system).call('clerk.' + tool, {})).content[0].text));
      return answers;
    })()`;
    expect(await outputOf(SAMPLES[2] as string, { url, ending })).toEqual([
      { action: 'accept', content: { name: 'Bo' } },
      { role: 'assistant', model: 'mine', content: { type: 'text', text: '1 read' } },
      { roots: [{ uri: 'file:///srv/data', name: 'data' }] },
    ]);
  });

  it('the fourth asks for permission by OAuth, where it is asked for', async () => {
    const before = 'const showAndWait = async (_page, _signal) => new URLSearchParams();';
    const ending = `await (async () => {
      const { startSystem } = await import('orrery');
      await using system = await startSystem({ agents: [search] });
      return system.registry.getById('search').capabilities.map(({ id }) => id);
    })()`;
    expect(await outputOf(SAMPLES[3] as string, { url, before, ending })).toEqual(['find', 'crawl']);
  });
});
