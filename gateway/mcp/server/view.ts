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

/** No name begins like it: what finds tools stands where those stand that it stands for. */
const BEFORE_ALL = '\u0000';

/** Whether somebody sees something. */
export type IsVisible = (offered: Offered) => boolean;

/** What one who calls sees of all that agents offer, as it is at one time. Made piece by piece, when it is asked for. */
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

  /** By the name that it is listed under, or its full one. */
  tool(name: string): ServedTool | undefined {
    return this.#served().byName.get(name);
  }

  /** There are so many tools that they are found instead of listed. */
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

  /** The full name of a prompt, by the one that it is listed under or its full one. */
  prompt(name: string): OfferedPrompt | undefined {
    return this.#namedPrompts().find((one) => one.name === name || one.prompt.name === name)?.prompt;
  }

  template(uriTemplate: string): OfferedTemplate | undefined {
    return this.#seen('template').find((one) => one.uriTemplate === uriTemplate);
  }

  /** Whether there is something under a URI that may be read. */
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
  // What is listed under a name is what is meant by it.
  for (const one of all) byName.set(one.name, one);
  return { all, byName };
}

/** As MCP has it, with its name where it has none of its own, and whose it is in `_meta`. */
function withoutAgent({ agentId, ...rest }: OfferedResource | OfferedTemplate | OfferedPrompt) {
  return { ...rest, _meta: { 'io.orrery/agentId': agentId } };
}

/** A tool or prompt under its full name, and whose it is. */
interface Named {
  readonly name: string;
  readonly agentId: string;
}

/**
 * What these are called at the edge, each by another name: who comes second to a name keeps the full one. `names` as in
 * `McpOptions`.
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
    // A full name is its owner's, who may need it.
    const free = taken.has(wanted) || full.has(wanted) ? name : wanted;
    taken.add(free);
    return free;
  });
}
