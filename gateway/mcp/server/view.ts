import type {
  OfferedPrompt,
  OfferedResource,
  OfferedTemplate,
  ToolService,
} from '../../../runtime/protocol/tool-service.ts';
import { UriTemplate } from '../../../runtime/protocol/uri-template.ts';
import { ToolNames } from '../../../runtime/protocol/tool-names.ts';
import type { Tool } from '../../../runtime/protocol/tool.ts';
import type { Offered, ParsedMcpOptions } from './mcp-options.ts';
import { type ListItem, PagedList } from './paged-list.ts';
import { SEARCH_TOOLS } from './search-tools.ts';
import { type ServedTool, servedTool } from './served-tool.ts';

/** Sorts before all names: `search_tools` and `call_tool` come first in a list. */
const BEFORE_ALL = '\u0000';

/** Whether a caller sees an offer. */
export type IsVisible = (offered: Offered) => boolean;

/** What a caller sees of all that agents offer, at one time. Each list is made on first use. */
export class View {
  readonly #service: ToolService;
  readonly #options: ParsedMcpOptions;
  readonly #sees: IsVisible;
  readonly #lists = new Map<string, PagedList>();
  #tools:
    | { readonly all: readonly ServedTool[]; readonly byName: ReadonlyMap<string, ServedTool> }
    | undefined;
  #templates: readonly UriTemplate[] | undefined;
  #prompts: readonly { readonly name: string; readonly prompt: OfferedPrompt }[] | undefined;

  constructor(service: ToolService, options: ParsedMcpOptions, sees: IsVisible) {
    this.#service = service;
    this.#options = options;
    this.#sees = sees;
  }

  get tools(): readonly ServedTool[] {
    return this.#served().all;
  }

  /** Finds a tool by its name in lists, its portable name, or its full name. */
  tool(name: string): ServedTool | undefined {
    return this.#served().byName.get(name);
  }

  /** Whether there are more tools than `searchAbove`, so that they are searched for, not listed. */
  get searches(): boolean {
    return this.tools.length > this.#options.searchAbove;
  }

  toolList(era: 'modern' | 'legacy'): PagedList {
    return this.#list(`tools ${era}`, 'tools', () =>
      this.searches
        ? SEARCH_TOOLS.map((shown, at) => ({ key: `${BEFORE_ALL}${at}`, shown }))
        : this.tools.map((served) => ({ key: served.tool.name, shown: served[era] })),
    );
  }

  resourceList(): PagedList {
    return this.#list('resources', 'resources', () =>
      this.#seen('resource').map((one) => ({ key: one.uri, shown: withoutAgent(one) })),
    );
  }

  templateList(): PagedList {
    return this.#list('templates', 'resourceTemplates', () =>
      this.#seen('template').map((one) => ({ key: one.uriTemplate, shown: withoutAgent(one) })),
    );
  }

  promptList(): PagedList {
    return this.#list('prompts', 'prompts', () =>
      this.#namedPrompts().map(({ name, prompt }) => ({
        key: prompt.name,
        shown: { ...withoutAgent(prompt), name },
      })),
    );
  }

  /** Finds a prompt by its name in lists, or its full name. */
  prompt(name: string): OfferedPrompt | undefined {
    return this.#namedPrompts().find((one) => one.name === name || one.prompt.name === name)?.prompt;
  }

  template(uriTemplate: string): OfferedTemplate | undefined {
    return this.#seen('template').find((one) => one.uriTemplate === uriTemplate);
  }

  /** Whether the caller may read a URI: it is a resource, or fits a template. */
  maySee(uri: string): boolean {
    return (
      this.#seen('resource').some((one) => one.uri === uri) ||
      this.#templatesNow().some((template) => template.match(uri) !== undefined)
    );
  }

  #templatesNow(): readonly UriTemplate[] {
    this.#templates ??= this.#seen('template').map(({ uriTemplate }) => new UriTemplate(uriTemplate));
    return this.#templates;
  }

  #list(key: string, field: string, items: () => readonly ListItem[]): PagedList {
    const known = this.#lists.get(key);
    if (known !== undefined) return known;
    const list = new PagedList(field, items(), this.#options.pageSize);
    this.#lists.set(key, list);
    return list;
  }

  #served() {
    this.#tools ??= servedTools(
      this.#service
        .tools()
        .filter(({ name, agentId, annotations }) => this.#sees({ kind: 'tool', name, agentId, annotations })),
      this.#options,
    );
    return this.#tools;
  }

  #namedPrompts() {
    this.#prompts ??= this.#promptsNow();
    return this.#prompts;
  }

  #promptsNow() {
    const prompts = this.#service
      .prompts()
      .filter(({ name, agentId }) => this.#sees({ kind: 'prompt', name, agentId }));
    const names = edgeNames(prompts, this.#options.names);
    return prompts.map((prompt, at) => ({ name: names[at] as string, prompt }));
  }

  #seen(kind: 'resource'): readonly OfferedResource[];
  #seen(kind: 'template'): readonly OfferedTemplate[];
  #seen(kind: 'resource' | 'template'): readonly (OfferedResource | OfferedTemplate)[] {
    const all = kind === 'resource' ? this.#service.resources() : this.#service.templates();
    return all.filter((one) =>
      this.#sees({ kind, name: 'uri' in one ? one.uri : one.uriTemplate, agentId: one.agentId }),
    );
  }
}

function servedTools(tools: readonly Tool[], { names, tasks }: ParsedMcpOptions) {
  const shown = edgeNames(tools, names);
  const all = tools.map((tool, at) =>
    servedTool(tool, shown[at] as string, typeof tasks === 'function' ? tasks(tool) : tasks),
  );
  const portable = new ToolNames(tools);
  const byName = new Map(all.map((one) => [portable.portable(one.tool), one]));
  for (const one of all) byName.set(one.tool.name, one);
  // The name in lists wins over the others.
  for (const one of all) byName.set(one.name, one);
  return { all, byName };
}

/** The entry of a list in MCP: the agent's id moves into `_meta`. */
function withoutAgent({ agentId, ...rest }: OfferedResource | OfferedTemplate | OfferedPrompt) {
  return { ...rest, _meta: { 'io.orrery/agentId': agentId } };
}

/** A tool or prompt: its full name and its agent. */
interface Named {
  readonly name: string;
  readonly agentId: string;
}

/**
 * The names of items in lists, by `names` of `McpOptions`, each different. An item whose name is taken keeps its full name.
 */
export function edgeNames<Item extends Named>(
  items: readonly Item[],
  names: ParsedMcpOptions['names'],
): readonly string[] {
  if (names === 'agent.tool') return items.map(({ name }) => name);
  if (names === 'portable') {
    const portable = new ToolNames(items);
    return items.map((item) => portable.portable(item));
  }
  const taken = new Set<string>();
  const full = new Set(items.map(({ name }) => name));
  return items.map(({ name, agentId }) => {
    const wanted = names({ agentId, id: name.slice(agentId.length + 1) });
    // The full name of another item is never given away.
    const free = taken.has(wanted) || full.has(wanted) ? name : wanted;
    taken.add(free);
    return free;
  });
}
