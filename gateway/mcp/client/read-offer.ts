import type { z } from 'zod';
import type { McpTool, McpOffer } from '../../../runtime/protocol/mcp-link.ts';
import { faultsOf } from '../../../runtime/protocol/payload-faults.ts';
import {
  PromptDescriptor,
  ResourceDescriptor,
  ResourceTemplateDescriptor,
  type ToolAnnotations,
} from '../../../runtime/protocol/tool.ts';
import type { Client, RequestOptions } from '@modelcontextprotocol/client';

interface ReadOfferOptions {
  /** The most of each kind that are read. */
  readonly max: number;
  readonly options: RequestOptions;
}

/** Reads all pages of the lists that the server has declared. `left` says what was left out, and why. */
export async function readOffer(client: Client, { max, options }: ReadOfferOptions): Promise<McpOffer> {
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

/** Resolves to no templates if the server does not know the method, as many servers do not. */
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

/** The longest text of a server that is stored, characters. */
const MAX_TEXT = 16_384;

/** A tool as the SDK reads it. */
interface ListedTool {
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly inputSchema: unknown;
  readonly outputSchema?: unknown;
  readonly execution?: { readonly taskSupport?: string | undefined } | undefined;
  readonly annotations?:
    | {
        readonly title?: string | undefined;
        readonly readOnlyHint?: boolean | undefined;
        readonly destructiveHint?: boolean | undefined;
        readonly idempotentHint?: boolean | undefined;
        readonly openWorldHint?: boolean | undefined;
      }
    | undefined;
}

export function readTool(tool: ListedTool): McpTool {
  return {
    name: tool.name,
    title: short(tool.title ?? tool.annotations?.title),
    description: short(tool.description) ?? '',
    inputSchema: tool.inputSchema,
    outputSchema: tool.outputSchema,
    annotations: annotationsOf(tool),
    ...(tool.execution?.taskSupport === 'required' ? { isTask: true } : {}),
  };
}

/** Converts hints, as the server gives them. A tool without `readOnlyHint` is not read-only. */
function annotationsOf({ annotations = {} }: ListedTool): ToolAnnotations {
  const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = annotations;
  const isReadOnly = readOnlyHint === true;
  return {
    ...(isReadOnly ? { readOnly: true } : {}),
    // By MCP's defaults a tool may destroy, and has an open world.
    ...(isReadOnly ? {} : { destructive: destructiveHint !== false }),
    ...(idempotentHint === true ? { idempotent: true } : {}),
    openWorld: openWorldHint !== false,
  };
}

const short = (text: string | undefined): string | undefined =>
  text === undefined || text === '' ? undefined : text.slice(0, MAX_TEXT);

/** Reads the valid items of a list; `leave` is called for each of the others. */
function readList<Schema extends z.ZodType>(
  schema: Schema,
  fields: readonly string[],
  { listed, leave }: { readonly listed: readonly object[]; readonly leave: (why: string) => void },
): z.output<Schema>[] {
  return listed.flatMap((one) => {
    const picked = Object.fromEntries(
      fields.flatMap((name) => {
        const value = (one as Record<string, unknown>)[name];
        return value === undefined || value === ''
          ? []
          : [[name, typeof value === 'string' ? short(value) : value]];
      }),
    );
    const read = schema.safeParse(picked);
    if (read.success) return [read.data];
    const { uri, uriTemplate, name } = one as Record<string, unknown>;
    leave(`${String(uri ?? uriTemplate ?? name)}: ${faultsOf(read.error, picked)}`);
    return [];
  });
}

interface Listed {
  readonly listed: readonly object[];
  readonly leave: (why: string) => void;
}

export const readResources = (listed: Listed): ResourceDescriptor[] =>
  readList(ResourceDescriptor, ['uri', 'name', 'title', 'description', 'mimeType', 'size'], listed);

export const readTemplates = (listed: Listed): ResourceTemplateDescriptor[] =>
  readList(ResourceTemplateDescriptor, ['uriTemplate', 'name', 'title', 'description', 'mimeType'], listed);

export function readPrompts({ listed, leave }: Listed): PromptDescriptor[] {
  const withArguments = listed.map((prompt) => {
    const given = (prompt as { arguments?: readonly Record<string, unknown>[] }).arguments;
    if (given === undefined) return prompt;
    const args = given.map(({ name, title, description, required }) => ({
      name,
      ...(typeof title === 'string' && title !== '' ? { title: short(title) } : {}),
      ...(typeof description === 'string' ? { description: short(description) } : {}),
      ...(typeof required === 'boolean' ? { required } : {}),
    }));
    return { ...prompt, arguments: args };
  });
  return readList(PromptDescriptor, ['name', 'title', 'description', 'arguments'], {
    listed: withArguments,
    leave,
  });
}
