import type { Client, RequestOptions } from '@modelcontextprotocol/client';
import type { McpOffer } from '../../../runtime/protocol/mcp-link.ts';
import { readPrompts, readResources, readTemplates, readTool } from './read-offer.ts';

export interface ListAllOptions {
  /** So many of each are taken. */
  readonly max: number;
  readonly options: RequestOptions;
}

/** All that the server lists, page by page, as far as it says that it has such things. */
export async function listAll(client: Client, { max, options }: ListAllOptions): Promise<McpOffer> {
  const { tools, resources, prompts } = client.getServerCapabilities() ?? {};
  const left: string[] = [];
  const leave = (why: string): void => void left.push(why.slice(0, 200));
  const atMost = <Item>(what: string, items: readonly Item[]): readonly Item[] => {
    if (items.length > max) leave(`${items.length - max} ${what}: more than ${max} are not taken`);
    return items.slice(0, max);
  };
  const fresh = { ...options, cacheMode: 'refresh' } as const;
  const listedTools = tools === undefined ? [] : (await client.listTools(undefined, fresh)).tools;
  const listedResources =
    resources === undefined ? [] : (await client.listResources(undefined, fresh)).resources;
  const listedTemplates =
    resources === undefined ? [] : await unlessUnknown(client.listResourceTemplates(undefined, fresh));
  const listedPrompts = prompts === undefined ? [] : (await client.listPrompts(undefined, fresh)).prompts;
  return {
    tools: atMost('tools', listedTools).map(readTool),
    resources: readResources({ listed: atMost('resources', listedResources), leave }),
    resourceTemplates: readTemplates({ listed: atMost('templates', listedTemplates), leave }),
    prompts: readPrompts({ listed: atMost('prompts', listedPrompts), leave }),
    left,
  };
}

/** Many servers have resources and know nothing of templates. */
async function unlessUnknown(
  listing: Promise<{ readonly resourceTemplates: readonly object[] }>,
): Promise<readonly object[]> {
  try {
    return (await listing).resourceTemplates;
  } catch (error) {
    if ((error as { code?: unknown }).code === METHOD_NOT_FOUND) return [];
    throw error;
  }
}
const METHOD_NOT_FOUND = -32_601;
