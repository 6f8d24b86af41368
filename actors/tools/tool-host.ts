import { bindMethods } from '../../runtime/protocol/bind-methods.ts';
import { capability, describeCapability } from '../../runtime/protocol/capability.ts';
import { invalidOptions } from '../../runtime/protocol/errors.ts';
import {
  type CompletionOptions,
  type ContentLoader,
  OfferedContent,
  type PromptTemplate,
} from '../../runtime/protocol/offered-content.ts';
import { requireFunction, requireText } from '../../runtime/protocol/parse-options.ts';
import { HOST_ID } from '../../runtime/protocol/policy.ts';
import type { Clock } from '../../runtime/protocol/seams.ts';
import { systemClock } from '../../runtime/protocol/system-seams.ts';
import type {
  PromptDescriptor,
  PromptMessage,
  ResourceContent,
  ResourceDescriptor,
  ResourceTemplateDescriptor,
  Tool,
  ToolInvocation,
} from '../../runtime/protocol/tool.ts';
import { warnOf } from '../../runtime/protocol/warn-of.ts';
import { duplicateTool, toolNotFound } from '../../runtime/protocol/tool-errors.ts';
import type {
  CallOptions,
  Completing,
  OfferedPrompt,
  OfferedResource,
  OfferedTemplate,
  ToolChange,
  ToolService,
} from '../../runtime/protocol/tool-service.ts';
import type { A2AObservability } from '../../runtime/public.ts';
import { requireCallOptions, requireCompleting } from './call-options.ts';
import { type AgentOffers, Catalogue, ownedBy, promptsOf, toolOf } from './catalogue.ts';
import { type HostedTool, runTool, withContext } from './hosted-call.ts';
import type { ToolContext, ToolRegistration } from './hosted-tool.ts';
import { InvocationLog, INVOCATION_LIMITS } from './invocation-log.ts';
import { Listeners } from './listeners.ts';
import { recordCall } from './record-call.ts';
import { type ToolExecutor, toolExecutor } from './tool-executor.ts';
import { whoseTool } from './whose-tool.ts';

/**
 * - `observability` hears of every call.
 * - `clock`         @default the real one
 * - `onFault`       hears of what a listener throws. @default a warning of the process
 */
export interface ToolHostOptions {
  readonly observability?: A2AObservability;
  readonly clock?: Clock;
  readonly onFault?: (error: unknown) => void;
}

/** What one agent has registered; `offers` is how that is listed. */
interface Hosted {
  readonly tools: Map<string, HostedTool>;
  readonly content: OfferedContent<ToolContext>;
  offers: AgentOffers;
}

/**
 * Tools, resources and prompts of agents that run nowhere: functions, called where they are registered. For use without a
 * system; `toolsOf(system)` serves those of a running one by the same contract.
 */
export class ToolHost implements ToolService {
  readonly #clock: Clock;
  readonly #observability: A2AObservability | undefined;
  readonly #agents = new Map<string, Hosted>();
  readonly #log = new InvocationLog(INVOCATION_LIMITS);
  readonly #changes: Listeners<ToolChange>;
  readonly #updates: Listeners<string>;
  #catalogue = new Catalogue([]);
  /** `executor(name, params)` calls a tool by its name. */
  readonly executor: ToolExecutor = toolExecutor(this);

  static {
    bindMethods(ToolHost.prototype);
  }

  /** Throws INVALID_OPTIONS naming field and value. */
  constructor({ observability, clock = systemClock, onFault = warn, ...others }: ToolHostOptions = {}) {
    requireNoOthers(others);
    requireFunction('onFault', onFault);
    if (observability !== undefined && typeof observability?.emit !== 'function')
      throw invalidOptions('observability', observability, 'an A2AObservability');
    this.#clock = clock;
    this.#observability = observability;
    this.#changes = new Listeners(onFault);
    this.#updates = new Listeners(onFault);
  }

  /** Registers a tool as `agentId.name`. Throws DUPLICATE_TOOL, and INVALID_OPTIONS naming field and value. */
  registerTool<Input, Output, Parsed, Given>(
    registration: ToolRegistration<Input, Output, Parsed, Given>,
    handler: (input: Parsed, ctx: ToolContext) => Given | Promise<Given>,
  ): Tool {
    if (typeof registration !== 'object' || registration === null)
      throw invalidOptions('registration', registration, 'an object of options');
    const [tool] = this.registerTools([{ ...registration, handler } as never]);
    return tool as Tool;
  }

  /** Registers all of them, or throws as `registerTool` does and registers none. */
  registerTools(
    registrations: readonly (ToolRegistration & {
      readonly handler: (input: never, ctx: ToolContext) => unknown;
    })[],
  ): readonly Tool[] {
    const made = registrations.map((registration) => this.#hosted(registration));
    const names = new Map(this.#catalogue.tools.map(({ name, agentId }) => [name, agentId]));
    for (const { tool } of made) {
      const owner = names.get(tool.name);
      if (owner !== undefined) throw duplicateTool(tool.name, owner);
      names.set(tool.name, tool.agentId);
    }
    for (const one of made) {
      const hosted = this.#agent(one.tool.agentId);
      hosted.tools.set(one.tool.name, one);
      hosted.offers = { ...hosted.offers, tools: [...hosted.offers.tools, one.tool] };
    }
    this.#changed();
    return made.map(({ tool }) => tool);
  }

  /** Throws INVALID_OPTIONS naming field and value, also for a URI that is there; as the next two do. */
  registerResource(agentId: string, descriptor: ResourceDescriptor, load: ContentLoader<ToolContext>): void {
    const { resources } = this.#catalogue;
    requireFree(
      'resource.uri',
      descriptor?.uri,
      resources.map(({ uri }) => uri),
    );
    const hosted = this.#agent(agentId);
    hosted.content.addResource(descriptor, load);
    hosted.offers = { ...hosted.offers, resources: ownedBy(agentId, hosted.content.resources) };
    this.#changed();
  }

  registerResourceTemplate(
    agentId: string,
    descriptor: ResourceTemplateDescriptor,
    load: ContentLoader<ToolContext>,
    options: CompletionOptions<ToolContext> = {},
  ): void {
    const { templates } = this.#catalogue;
    requireFree(
      'uriTemplate',
      descriptor?.uriTemplate,
      templates.map(({ uriTemplate }) => uriTemplate),
    );
    const hosted = this.#agent(agentId);
    hosted.content.addTemplate(descriptor, load, options);
    hosted.offers = { ...hosted.offers, templates: ownedBy(agentId, hosted.content.templates) };
    this.#changed();
  }

  /** Registers a prompt as `agentId.name`. */
  registerPrompt(
    agentId: string,
    descriptor: PromptDescriptor,
    template: PromptTemplate<ToolContext>,
    options: CompletionOptions<ToolContext> = {},
  ): void {
    const { prompts } = this.#catalogue;
    requireFree(
      'prompt.name',
      `${agentId}.${descriptor?.name}`,
      prompts.map(({ name }) => name),
    );
    const hosted = this.#agent(agentId);
    hosted.content.addPrompt(descriptor, template, options);
    hosted.offers = { ...hosted.offers, prompts: promptsOf(agentId, hosted.content.prompts) };
    this.#changed();
  }

  /** Removes all that an agent has registered; says whether there was anything. */
  unregister(agentId: string): boolean {
    const was = this.#agents.delete(agentId);
    this.#changed();
    return was;
  }

  /** Tells listeners that a resource has changed. */
  resourceChanged(uri: string): void {
    requireText('uri', uri);
    this.#updates.tell(uri);
  }

  tools(): readonly Tool[] {
    return this.#catalogue.tools;
  }

  tool(name: string): Tool | undefined {
    return this.#catalogue.tool(name);
  }

  resources(): readonly OfferedResource[] {
    return this.#catalogue.resources;
  }

  templates(): readonly OfferedTemplate[] {
    return this.#catalogue.templates;
  }

  prompts(): readonly OfferedPrompt[] {
    return this.#catalogue.prompts;
  }

  async call(name: string, args: unknown, options: CallOptions = {}): Promise<unknown> {
    const tool = this.#catalogue.tool(name);
    const hosted = tool === undefined ? undefined : this.#agents.get(tool.agentId)?.tools.get(tool.name);
    if (hosted === undefined) throw toolNotFound(name);
    const recorder = { clock: this.#clock, log: this.#log, note: this.#note };
    const called = { tool: hosted.tool, args, callerId: options?.as?.id ?? HOST_ID };
    return recordCall(recorder, called, () => runTool(hosted, args, { options, clock: this.#clock }));
  }

  async read(uri: string, options: CallOptions = {}): Promise<readonly ResourceContent[]> {
    return this.#ask(this.#catalogue.requireOwnerOf(uri), options, (content, ctx) => content.read(uri, ctx));
  }

  async render(
    name: string,
    args: Readonly<Record<string, string>>,
    options: CallOptions = {},
  ): Promise<{ readonly description?: string; readonly messages: readonly PromptMessage[] }> {
    const { agentId, ownName } = this.#catalogue.ownerOfPrompt(name);
    const { description, messages } = await this.#ask(agentId, options, (content, ctx) =>
      content.render(ownName, args, ctx),
    );
    return description === undefined ? { messages } : { description, messages };
  }

  async complete(completing: Completing, options: CallOptions = {}): Promise<readonly string[]> {
    requireCompleting(completing);
    const { agentId, asked } = this.#catalogue.completionOf(completing);
    return this.#ask(agentId, options, (content, ctx) => content.complete(asked, ctx));
  }

  invocations(): readonly ToolInvocation[] {
    return this.#log.list();
  }

  onChange(listener: (change: ToolChange) => void): () => void {
    return this.#changes.add(listener);
  }

  onUpdate(listener: (uri: string) => void): () => void {
    return this.#updates.add(listener);
  }

  readonly #note = (event: Parameters<Parameters<typeof recordCall>[0]['note']>[0]): void =>
    this.#observability?.emit({ ...event, timestamp: this.#clock.now() });

  #hosted({
    handler,
    agentId,
    name,
    title,
    description,
    inputSchema,
    outputSchema,
    annotations = {},
    ...others
  }: ToolRegistration & { readonly handler: (input: never, ctx: ToolContext) => unknown }): HostedTool {
    // Other fields, such as `privileged`, would have no effect here.
    requireNoOthers(others);
    requireText('agentId', agentId);
    requireFunction(`the handler of ${agentId}.${name}`, handler);
    const declared = capability({
      id: name,
      ...(title === undefined ? {} : { name: title }),
      description,
      input: inputSchema,
      output: outputSchema,
      ...annotations,
    });
    return { tool: toolOf(agentId, describeCapability(declared)), capability: declared, handler };
  }

  #agent(agentId: string): Hosted {
    requireText('agentId', agentId);
    const known = this.#agents.get(agentId);
    if (known !== undefined) return known;
    const made: Hosted = {
      tools: new Map(),
      content: new OfferedContent<ToolContext>(),
      offers: { tools: [], resources: [], templates: [], prompts: [] },
    };
    this.#agents.set(agentId, made);
    return made;
  }

  async #ask<Answer>(
    agentId: string,
    options: CallOptions,
    ask: (content: OfferedContent<ToolContext>, ctx: ToolContext) => Promise<Answer>,
  ): Promise<Answer> {
    const { content } = this.#agent(agentId);
    try {
      requireCallOptions(options);
      return await withContext(agentId, { options, clock: this.#clock }, (ctx) => ask(content, ctx));
    } catch (error) {
      throw whoseTool(error, agentId);
    }
  }

  #changed(): void {
    const former = this.#catalogue;
    const offers = [...this.#agents.values()].map((hosted) => hosted.offers);
    this.#catalogue = new Catalogue(offers, former);
    for (const change of this.#catalogue.changesSince(former)) this.#changes.tell(change);
  }
}

function requireFree(field: string, name: string, taken: readonly string[]): void {
  if (taken.includes(name)) throw invalidOptions(field, name, 'one that is not registered yet');
}

function requireNoOthers(others: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(others))
    throw invalidOptions(name, value, 'no option of this name');
}

const warn = (error: unknown): void => warnOf('A listener failed', error);
