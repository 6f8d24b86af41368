import { z } from 'zod';
import { GivenCapability } from './capability-options.ts';
import { invalidOptions, invalidPayload, refused } from './errors.ts';
import { parseOptions, requireFunction } from './parse-options.ts';
import {
  argumentNames,
  checkArguments,
  checkPrompt,
  filled,
  messagesOf,
  type PromptText,
} from './prompt-template.ts';
import {
  PromptDescriptor,
  type PromptMessage,
  type ResourceContent,
  ResourceDescriptor,
  ResourceTemplateDescriptor,
} from './tool.ts';
import { promptNotFound, resourceNotFound } from './tool-errors.ts';
import type { Completing } from './tool-service.ts';
import { UriTemplate } from './uri-template.ts';

/** The resource to read. `variables` are those of its template, decoded. */
export interface WantedContent {
  readonly uri: string;
  readonly variables: Readonly<Record<string, string>>;
}

/** What a loader returns: text, bytes, or the fields of a `ResourceContent` that differ from its declaration. */
type GivenContent =
  | string
  | Uint8Array
  | { readonly uri?: string; readonly mimeType?: string | undefined; readonly text: string }
  | { readonly uri?: string; readonly mimeType?: string | undefined; readonly blob: string };

/** Undefined says that there is no such resource. */
export type LoadedContent = GivenContent | readonly GivenContent[] | undefined;

export type ContentLoader<Context> = (
  wanted: WantedContent,
  ctx: Context,
) => LoadedContent | Promise<LoadedContent>;

type Texts = Readonly<Record<string, string>>;

/** A prompt: a text or messages with `{{argument}}` in them, or a function that makes them from the arguments. */
export type PromptTemplate<Context> =
  | PromptText
  | ((args: Texts, ctx: Context) => PromptText | Promise<PromptText>);

/** Completes an argument: a list, filtered by its beginning, or a function that finds values, the likeliest first. */
export type Completer<Context> =
  | readonly string[]
  | ((value: string, others: Texts, ctx: Context) => readonly string[] | Promise<readonly string[]>);

/** Completers, by the names of arguments or variables. */
export interface CompletionOptions<Context> {
  readonly complete?: Readonly<Record<string, Completer<Context>>>;
}

const GivenCompleters = z.strictObject({ complete: z.record(z.string(), z.unknown()).optional() });

interface Completed<Context> {
  readonly names: ReadonlySet<string>;
  readonly complete: Readonly<Record<string, Completer<Context>>>;
}

interface Resource<Context> {
  readonly descriptor: ResourceDescriptor;
  readonly load: ContentLoader<Context>;
}

interface Template<Context> extends Completed<Context> {
  readonly descriptor: ResourceTemplateDescriptor;
  readonly template: UriTemplate;
  readonly load: ContentLoader<Context>;
}

interface Prompt<Context> extends Completed<Context> {
  readonly descriptor: PromptDescriptor;
  /** The messages, or a function that makes them each time. */
  readonly says: readonly PromptMessage[] | Extract<PromptTemplate<Context>, (...given: never) => unknown>;
}

/**
 * The resources, templates and prompts of one agent, with the functions that load, render and complete them. `Context` is the
 * second argument of these.
 */
export class OfferedContent<Context> {
  readonly #resources = new Map<string, Resource<Context>>();
  readonly #templates = new Map<string, Template<Context>>();
  readonly #prompts = new Map<string, Prompt<Context>>();

  get isEmpty(): boolean {
    return this.#resources.size + this.#templates.size + this.#prompts.size === 0;
  }

  /** Removes everything, for agents whose offer changes while they run. */
  clear(): void {
    for (const offered of [this.#resources, this.#templates, this.#prompts]) offered.clear();
  }

  get resources(): readonly ResourceDescriptor[] {
    return [...this.#resources.values()].map(({ descriptor }) => descriptor);
  }

  get templates(): readonly ResourceTemplateDescriptor[] {
    return [...this.#templates.values()].map(({ descriptor }) => descriptor);
  }

  get prompts(): readonly PromptDescriptor[] {
    return [...this.#prompts.values()].map(({ descriptor }) => descriptor);
  }

  /** Adds a resource. Throws INVALID_OPTIONS naming field and value, as the next two do. */
  addResource(given: ResourceDescriptor, load: ContentLoader<Context>): void {
    const descriptor = parseOptions(ResourceDescriptor, given, 'resource');
    const { uri } = descriptor;
    requireFunction(`the loader of ${uri}`, load);
    if (this.#resources.has(uri)) throw invalidOptions('resource.uri', uri, 'a URI not declared yet');
    this.#resources.set(uri, { descriptor, load });
  }

  addTemplate(
    given: ResourceTemplateDescriptor,
    load: ContentLoader<Context>,
    options: CompletionOptions<Context> = {},
  ): void {
    const descriptor = parseOptions(ResourceTemplateDescriptor, given, 'resourceTemplate');
    const { complete = {} } = parseOptions(GivenCompleters, options, 'resourceTemplate') as typeof options;
    const { uriTemplate } = descriptor;
    requireFunction(`the loader of ${uriTemplate}`, load);
    if (this.#templates.has(uriTemplate))
      throw invalidOptions('resourceTemplate.uriTemplate', uriTemplate, 'a template not declared yet');
    const template = new UriTemplate(uriTemplate, 'resourceTemplate.uriTemplate');
    const names = new Set(template.variables);
    checkCompleters(uriTemplate, names, complete);
    this.#templates.set(uriTemplate, { descriptor, template, load, names, complete });
  }

  addPrompt(
    given: PromptDescriptor,
    template: PromptTemplate<Context>,
    options: CompletionOptions<Context> = {},
  ): void {
    const descriptor = parseOptions(PromptDescriptor, given, 'prompt');
    const { complete = {} } = parseOptions(GivenCompleters, options, 'prompt') as typeof options;
    const { name } = descriptor;
    parseOptions(GivenCapability.shape.id, name, 'prompt.name');
    if (this.#prompts.has(name)) throw invalidOptions('prompt.name', name, 'a name not declared yet');
    const names = argumentNames(descriptor);
    const says = typeof template === 'function' ? template : checkPrompt(descriptor, template);
    checkCompleters(`the prompt "${name}"`, names, complete);
    this.#prompts.set(name, { descriptor, says, names, complete });
  }

  /** Loads a resource. Rejects with RESOURCE_NOT_FOUND naming the URI. */
  async read(uri: string, ctx: Context): Promise<readonly ResourceContent[]> {
    const { descriptor, load, variables } = this.#find(uri);
    const loaded = await load({ uri, variables }, ctx);
    if (loaded === undefined) throw resourceNotFound(uri);
    const parts = Array.isArray(loaded) ? (loaded as readonly GivenContent[]) : [loaded as GivenContent];
    return parts.map((part) => contentOf(part, uri, descriptor.mimeType));
  }

  /** Renders a prompt. Rejects with PROMPT_NOT_FOUND, and with INVALID_PAYLOAD naming the argument. */
  async render(name: string, args: Texts, ctx: Context): Promise<RenderedPrompt> {
    const prompt = this.#prompts.get(name);
    if (prompt === undefined) throw promptNotFound(name);
    const { descriptor, says } = prompt;
    checkArguments(descriptor, args);
    const messages = typeof says === 'function' ? said(name, await says(args, ctx)) : filled(says, args);
    return descriptor.description === undefined
      ? { messages: [...messages] }
      : { description: descriptor.description, messages: [...messages] };
  }

  /** Completes an argument or a variable. Rejects with PROMPT_NOT_FOUND or RESOURCE_NOT_FOUND, and with INVALID_PAYLOAD naming it. */
  async complete(completing: Completing, ctx: Context): Promise<readonly string[]> {
    const { of, argument, value, others = {} } = completing;
    const found = 'prompt' in of ? this.#prompts.get(of.prompt) : this.#templates.get(of.uriTemplate);
    if (found === undefined)
      throw 'prompt' in of ? promptNotFound(of.prompt) : resourceNotFound(of.uriTemplate);
    if (!found.names.has(argument)) {
      const what = 'prompt' in of ? of.prompt : of.uriTemplate;
      throw invalidPayload(what, `${argument}: there is no such argument`);
    }
    const completer = Object.hasOwn(found.complete, argument) ? found.complete[argument] : undefined;
    if (completer === undefined) return [];
    if (typeof completer === 'function') return completer(value, others, ctx);
    const begun = value.toLowerCase();
    return completer.filter((one) => one.toLowerCase().startsWith(begun));
  }

  #find(uri: string): Pick<Resource<Context>, 'load'> & {
    readonly descriptor: { readonly mimeType?: string | undefined };
    readonly variables: Texts;
  } {
    const resource = this.#resources.get(uri);
    if (resource !== undefined) return { ...resource, variables: {} };
    for (const { descriptor, load, template } of this.#templates.values()) {
      const variables = template.match(uri);
      if (variables !== undefined) return { descriptor, load, variables };
    }
    throw resourceNotFound(uri);
  }
}

/** A prompt with its arguments filled in. */
export interface RenderedPrompt {
  readonly description?: string | undefined;
  readonly messages: readonly PromptMessage[];
}

/** The loaded value as a `ResourceContent`. An invalid one is left as it is: the schema names its fault. */
function contentOf(given: GivenContent, uri: string, mimeType: string | undefined): ResourceContent {
  const declared = mimeType === undefined ? { uri } : { uri, mimeType };
  if (typeof given === 'string') return { ...declared, text: given };
  if (given instanceof Uint8Array) return { ...declared, blob: Buffer.from(given).toString('base64') };
  if (typeof given !== 'object' || given === null) return given;
  return { ...declared, ...given };
}

/** The messages that a function made. If they are invalid, the agent is at fault, as with an invalid answer. */
function said(name: string, text: PromptText): readonly PromptMessage[] {
  try {
    return messagesOf(text, `what the prompt "${name}" says`);
  } catch (error) {
    throw refused((error as Error).message, { prompt: name });
  }
}

function checkCompleters(
  what: string,
  names: ReadonlySet<string>,
  complete: Readonly<Record<string, unknown>>,
): void {
  for (const [name, completer] of Object.entries(complete)) {
    const field = `complete.${name} of ${what}`;
    if (!names.has(name)) throw invalidOptions(field, name, `one of ${[...names].join(', ') || 'none'}`);
    const isList = Array.isArray(completer) && completer.every((one) => typeof one === 'string');
    if (!isList && typeof completer !== 'function')
      throw invalidOptions(field, completer, 'a list of texts, or a function');
  }
}
