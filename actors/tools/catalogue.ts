import type { AgentCard, CapabilityDescriptor } from '../../runtime/protocol/agent-card.ts';
import { invalidOptions } from '../../runtime/protocol/errors.ts';
import { annotationsOf, type PromptDescriptor, type Tool } from '../../runtime/protocol/tool.ts';
import { type AgentsOwn, ToolNames } from '../../runtime/protocol/tool-names.ts';
import { mergeTaint, type Taint } from '../../runtime/protocol/taint.ts';
import { promptNotFound, resourceNotFound } from '../../runtime/protocol/tool-errors.ts';
import type {
  Completing,
  OfferedPrompt,
  OfferedResource,
  OfferedTemplate,
  ToolChange,
} from '../../runtime/protocol/tool-service.ts';
import { UriTemplate } from '../../runtime/protocol/uri-template.ts';

/** What one agent offers. */
export interface AgentOffers {
  readonly tools: readonly Tool[];
  readonly resources: readonly OfferedResource[];
  readonly templates: readonly OfferedTemplate[];
  readonly prompts: readonly OfferedPrompt[];
}

/** An offer that is not listed, because `ownerId` has offered the same name or URI before. */
export interface Duplicate {
  readonly name: string;
  readonly agentId: string;
  readonly ownerId: string;
}

/** All offers of a team at one moment. Of two with one name or URI, the one that was registered first counts. */
export class Catalogue {
  readonly tools: readonly Tool[];
  readonly resources: readonly OfferedResource[];
  readonly templates: readonly OfferedTemplate[];
  readonly prompts: readonly OfferedPrompt[];
  readonly duplicates: readonly Duplicate[];
  readonly #toolNames: ToolNames<Tool>;
  readonly #promptNames: ToolNames<OfferedPrompt>;
  readonly #resourcesByUri: ReadonlyMap<string, OfferedResource>;
  readonly #routes: readonly TemplateRoute[];

  /** `former`: lists that are the same again are the same objects. */
  constructor(offers: readonly AgentOffers[], former?: Catalogue) {
    const duplicates: Duplicate[] = [];
    const once = <Item extends { readonly agentId: string }>(
      lists: readonly (readonly Item[])[],
      nameOf: (item: Item) => string,
    ): readonly Item[] => firstOfEach(lists, nameOf, duplicates);
    const tools = once(
      offers.map((offer) => offer.tools),
      nameOfOwn,
    );
    const prompts = once(
      offers.map((offer) => offer.prompts),
      nameOfOwn,
    );
    const resources = once(
      offers.map((offer) => offer.resources),
      ({ uri }) => uri,
    );
    const templates = once(
      offers.map((offer) => offer.templates),
      ({ uriTemplate }) => uriTemplate,
    );
    this.tools = kept(former?.tools, tools);
    this.resources = kept(former?.resources, resources);
    this.templates = kept(former?.templates, templates);
    this.prompts = kept(former?.prompts, prompts);
    this.duplicates = duplicates;
    this.#toolNames = this.tools === former?.tools ? former.#toolNames : new ToolNames(this.tools);
    this.#promptNames = this.prompts === former?.prompts ? former.#promptNames : new ToolNames(this.prompts);
    this.#resourcesByUri = new Map(this.resources.map((resource) => [resource.uri, resource]));
    this.#routes =
      this.templates === former?.templates
        ? former.#routes
        : this.templates.map((template) => new TemplateRoute(template));
  }

  tool(name: string): Tool | undefined {
    requireString('name', name);
    return this.#toolNames.find(name);
  }

  /** Whose a prompt is, and what it is called there. Throws PROMPT_NOT_FOUND. */
  ownerOfPrompt(name: string): { readonly agentId: string; readonly ownName: string } {
    requireString('name', name);
    const prompt = this.#promptNames.find(name);
    if (prompt === undefined) throw promptNotFound(name);
    const { agentId } = prompt;
    return { agentId, ownName: prompt.name.slice(agentId.length + 1) };
  }

  /** The agent that has the resource of this URI. */
  ownerOf(uri: string): string | undefined {
    requireString('uri', uri);
    return this.#resourcesByUri.get(uri)?.agentId ?? this.#routes.find((route) => route.fits(uri))?.agentId;
  }

  /** As `ownerOf`; throws RESOURCE_NOT_FOUND. */
  requireOwnerOf(uri: string): string {
    const agentId = this.ownerOf(uri);
    if (agentId === undefined) throw resourceNotFound(uri);
    return agentId;
  }

  /** The agent that completes an argument, and what it is asked. Throws PROMPT_NOT_FOUND, RESOURCE_NOT_FOUND. */
  completionOf(completing: Completing): { readonly agentId: string; readonly asked: Completing } {
    const { of } = completing;
    if ('prompt' in of) {
      const { agentId, ownName } = this.ownerOfPrompt(of.prompt);
      return { agentId, asked: { ...completing, of: { prompt: ownName } } };
    }
    const template = this.templates.find(({ uriTemplate }) => uriTemplate === of.uriTemplate);
    if (template === undefined) throw resourceNotFound(of.uriTemplate);
    return { agentId: template.agentId, asked: completing };
  }

  /** Which lists are others than those of `former`. */
  changesSince(former: Catalogue): readonly ToolChange[] {
    const changes: ToolChange[] = [];
    if (this.tools !== former.tools) changes.push('tools');
    if (this.resources !== former.resources || this.templates !== former.templates) changes.push('resources');
    if (this.prompts !== former.prompts) changes.push('prompts');
    return changes;
  }
}

/** Throws INVALID_OPTIONS: what is no text is a mistake of the caller, not the name of something that is not there. */
function requireString(field: string, value: unknown): void {
  if (typeof value !== 'string') throw invalidOptions(field, value, 'a text');
}

const nameOfOwn = ({ name }: AgentsOwn): string => name;

function firstOfEach<Item extends { readonly agentId: string }>(
  lists: readonly (readonly Item[])[],
  nameOf: (item: Item) => string,
  duplicates: Duplicate[],
): readonly Item[] {
  const found = new Map<string, Item>();
  for (const list of lists) {
    for (const item of list) {
      const name = nameOf(item);
      const owner = found.get(name);
      if (owner === undefined) found.set(name, item);
      else duplicates.push({ name, agentId: item.agentId, ownerId: owner.agentId });
    }
  }
  return Object.freeze([...found.values()]);
}

/** The former list if the new one is equal. */
const kept = <Item>(former: readonly Item[] | undefined, now: readonly Item[]): readonly Item[] =>
  former !== undefined && former.length === now.length && now.every((item, at) => item === former[at])
    ? former
    : now;

/** The offers of a card. A capability whose values JSON does not carry is no tool. */
export function offersOf(card: AgentCard): AgentOffers {
  const { id, capabilities, resources = [], resourceTemplates = [], prompts = [], taint } = card;
  return {
    tools: capabilities.filter(({ carries }) => carries === undefined).map((one) => toolOf(id, one, taint)),
    resources: ownedBy(id, resources, taint),
    templates: ownedBy(id, resourceTemplates, taint),
    prompts: promptsOf(id, prompts, taint),
  };
}

/** The taint of these offers' names and descriptions. */
export const taintOfOffers = (offers: readonly { readonly taint?: Taint }[]): Taint | undefined =>
  offers.reduce((all: Taint | undefined, { taint }) => mergeTaint(all, taint), undefined);

export const ownedBy = <Descriptor extends object>(
  agentId: string,
  all: readonly Descriptor[],
  taint?: Taint,
): readonly (Descriptor & { readonly agentId: string; readonly taint?: Taint })[] =>
  all.map(
    (descriptor) =>
      Object.freeze({ ...descriptor, agentId, ...(taint && { taint }) }) as Descriptor & {
        readonly agentId: string;
        readonly taint?: Taint;
      },
  );

/** Prompts under their full names. */
export const promptsOf = (
  agentId: string,
  prompts: readonly PromptDescriptor[],
  taint?: Taint,
): readonly OfferedPrompt[] =>
  ownedBy(agentId, prompts, taint).map((prompt) =>
    Object.freeze({ ...prompt, name: `${agentId}.${prompt.name}` }),
  );

export function toolOf(agentId: string, capability: CapabilityDescriptor, taint?: Taint): Tool {
  const { id, name, description, inputSchema, outputSchema, streams, isContent } = capability;
  return Object.freeze({
    name: `${agentId}.${id}`,
    title: name,
    description,
    inputSchema,
    outputSchema,
    agentId,
    capability: id,
    annotations: annotationsOf(capability),
    streams: streams === true,
    isContent: isContent === true,
    ...(taint && { taint }),
  });
}

/**
 * Says which URIs are of an agent's template. One with expressions that are not understood here, such as an agent may pass on
 * from a server elsewhere, takes every URI that begins as it does: the agent knows better.
 */
class TemplateRoute {
  readonly agentId: string;
  readonly #template: UriTemplate | undefined;
  readonly #prefix: string;

  constructor({ agentId, uriTemplate }: OfferedTemplate) {
    this.agentId = agentId;
    this.#prefix = uriTemplate.split('{', 1)[0] as string;
    this.#template = templateOf(uriTemplate);
  }

  fits(uri: string): boolean {
    if (this.#template !== undefined) return this.#template.match(uri) !== undefined;
    return this.#prefix !== '' && uri.startsWith(this.#prefix);
  }
}

function templateOf(uriTemplate: string): UriTemplate | undefined {
  try {
    return new UriTemplate(uriTemplate);
  } catch {
    return undefined;
  }
}
