import type { AnyActorLogic } from 'xstate';
import { z } from 'zod';
import { AcceptOptions, type Acceptance, type ChannelAcceptor } from '../channels/agent-channels.ts';
import type { AgentCard, CapabilityDescriptor } from '../protocol/agent-card.ts';
import { type Capability, describeCapability } from '../protocol/capability.ts';
import { requireCapability } from '../protocol/capability-options.ts';
import { A2A_MESSAGE_TYPES, type A2AEnvelope, type A2AMessageType } from '../protocol/envelope.ts';
import { invalidOptions } from '../protocol/errors.ts';
import {
  type CompletionOptions,
  type ContentLoader,
  OfferedContent,
  type PromptTemplate,
} from '../protocol/offered-content.ts';
import { parseOptions, requireFunction, requireText } from '../protocol/parse-options.ts';
import type { Snapshot } from '../protocol/snapshot.ts';
import type { Taint } from '../protocol/taint.ts';
import type { PromptDescriptor, ResourceDescriptor, ResourceTemplateDescriptor } from '../protocol/tool.ts';
import type { Migration } from '../upgrade/migrations.ts';
import { versionRange } from '../upgrade/version-range.ts';
import { AgentOptions } from './agent-options.ts';
import type { ActorContext, HandlingContext } from './context.ts';
import { requireOneAtATime, requireRestart } from './loaded-agent.ts';

export type Handler<State, Input, Output> = (
  input: Input,
  ctx: HandlingContext<State>,
) => Output | Promise<Output>;
export type StreamHandler<State, Input, Output> = (
  input: Input,
  ctx: HandlingContext<State>,
) => AsyncIterable<Output> | Iterable<Output>;
export type EnvelopeHandler<State> = (envelope: A2AEnvelope, ctx: HandlingContext<State>) => unknown;

/** A capability and what answers it; `isContent`: it serves what the agent offers beside its capabilities. */
export interface HandlerEntry {
  readonly capability: Capability;
  readonly kind: 'value' | 'stream';
  readonly isContent?: true;
  readonly run: (input: never, ctx: HandlingContext<never>) => unknown;
}

/**
 * An agent as data: who it is, what it handles. Made once, started any number of times.
 *
 * Made by `defineAgent`; a module that holds one exports it (by any name, one a module).
 */
export class AgentDefinition<State = undefined> {
  readonly options: z.output<typeof AgentOptions>;
  readonly handlers = new Map<string, HandlerEntry>();
  readonly envelopeHandlers = new Map<A2AMessageType, EnvelopeHandler<never>>();
  /** Its resources and prompts. */
  readonly content = new OfferedContent<HandlingContext<never>>();
  start: ((ctx: ActorContext) => unknown) | undefined;
  stop: ((ctx: ActorContext<never>) => unknown) | undefined;
  actorLogic: AnyActorLogic | undefined;
  acceptance: Acceptance<HandlingContext<never>> | undefined;
  /** What the state that it hands on must be. */
  stateSchema: z.ZodType | undefined;
  readonly migrations: Migration[] = [];
  /** Where the text of its card came from outside, if nobody here has approved them. */
  taint: Taint | undefined;

  /**
   * Where the text of its card came from, approved or not. That of an agent elsewhere is its own.
   * @internal
   */
  textFrom: Taint | undefined = undefined;

  /**
   * It is a proxy of what runs elsewhere, and keeps nothing between two envelopes.
   * @internal
   */
  isProxy = false;

  /**
   * What stands for it here only passes on what comes: proposals and documents are taken where it lives.
   * @internal
   */
  isRelay = false;

  /**
   * It keeps of each thing where that came from outside, and says so (`markOutside`) when it gives that out: its state has nothing in
   * it that it does not know of. So what it was given is on that work alone, and not on its life.
   * @internal
   */
  keepsTaintApart = false;

  /**
   * How long its handlers may take to end once they are cut off, milliseconds: they have to end what runs elsewhere.
   * @internal
   */
  cutOffGraceMs: number | undefined = undefined;

  /**
   * How many envelopes it may have in hand at a time.
   * @internal
   */
  concurrency: number;

  /**
   * The node where it lives, if that is another one: what goes to it goes there, whatever thread its proxy is in.
   * @internal
   */
  node: string | undefined = undefined;

  /**
   * Its first start says whether it was given the right options: INVALID_OPTIONS of it, naming one of them, fails the start of
   * whoever starts it, and is not tried again.
   * @internal
   */
  checksOptions = false;

  constructor(options: AgentOptions) {
    this.options = parseOptions(AgentOptions, options, 'agent');
    this.concurrency = this.options.concurrency ?? 1;
    if (this.options.durable !== true) return;
    requireRestart(this.options, 'an agent that is durable');
    requireOneAtATime(this.options, 'an agent that is durable');
  }

  /** Answers `capability` with what `run` returns. What it throws fails the envelope, and ends the actor unless `onThrow` says otherwise; `refused(...)` only declines. */
  handle<Parsed, Given>(
    capability: Capability<unknown, unknown, Parsed, Given>,
    run: Handler<State, Parsed, Given>,
  ): this {
    return this.#add({ capability, kind: 'value', run } as unknown as HandlerEntry);
  }

  /** Answers `capability` with a stream of what `run` yields. */
  handleStream<Parsed, Given>(
    capability: Capability<unknown, unknown, Parsed, Given>,
    run: StreamHandler<State, Parsed, Given>,
  ): this {
    return this.#add({ capability, kind: 'stream', run } as unknown as HandlerEntry);
  }

  /** Handles envelopes of `type` that name no capability. For a request, what `run` returns is the answer. */
  on(type: A2AMessageType, run: EnvelopeHandler<State>): this {
    if (!A2A_MESSAGE_TYPES.includes(type))
      throw invalidOptions('on', type, `one of ${A2A_MESSAGE_TYPES.join(', ')}`);
    requireFunction(`the handler of ${type}`, run);
    if (this.envelopeHandlers.has(type)) throw invalidOptions('on', type, 'a message type not handled yet');
    this.envelopeHandlers.set(type, run as EnvelopeHandler<never>);
    return this;
  }

  /**
   * Offers something to be read: `load` gives its text or bytes each time, in the agent's turn, as a handler does. What it
   * throws ends the actor; undefined says that there is no such thing now.
   */
  resource(descriptor: ResourceDescriptor, load: ContentLoader<HandlingContext<State>>): this {
    const { content } = this as unknown as { content: OfferedContent<HandlingContext<State>> };
    content.addResource(descriptor, load);
    return this;
  }

  /**
   * Offers whatever has a URI of this template (RFC 6570: `{name}`, and `{+path}` as the last); `load` is given the variables,
   * decoded. Of several templates of an agent that fit a URI the first one counts, and a resource before all.
   */
  resourceTemplate(
    descriptor: ResourceTemplateDescriptor,
    load: ContentLoader<HandlingContext<State>>,
    options: CompletionOptions<HandlingContext<State>> = {},
  ): this {
    const { content } = this as unknown as { content: OfferedContent<HandlingContext<State>> };
    content.addTemplate(descriptor, load, options);
    return this;
  }

  /**
   * Offers a prompt: `template` is a text or messages with `{{argument}}` in them, or a function of the arguments that says
   * them, in the agent's turn. A placeholder without an argument is INVALID_OPTIONS here.
   */
  prompt(
    descriptor: PromptDescriptor,
    template: PromptTemplate<HandlingContext<State>>,
    options: CompletionOptions<HandlingContext<State>> = {},
  ): this {
    const { content } = this as unknown as { content: OfferedContent<HandlingContext<State>> };
    content.addPrompt(descriptor, template, options);
    return this;
  }

  /**
   * Accepts channels that other agents open to it: `accept` is called with each before it is open, in the agent's turn. An
   * agent without it refuses them all, as does what `accept` throws: `refused('…')`.
   */
  onChannel(accept: ChannelAcceptor<HandlingContext<State>>, options: AcceptOptions = {}): this {
    requireFunction('onChannel', accept);
    if (this.acceptance !== undefined)
      throw invalidOptions('onChannel', this.options.id, 'one acceptor an agent');
    const settings = parseOptions(AcceptOptions, options, 'onChannel');
    this.acceptance = { accept: accept as ChannelAcceptor<HandlingContext<never>>, options: settings };
    return this;
  }

  /** Makes the agent's state; runs before the first envelope and after each restart. */
  onStart<Next>(run: (ctx: ActorContext) => Next | Promise<Next>): AgentDefinition<Next> {
    requireFunction('onStart', run);
    this.start = run;
    return this as unknown as AgentDefinition<Next>;
  }

  /** Runs when the agent stops or is about to be restarted; what it throws is reported and ends nothing. */
  onStop(run: (ctx: ActorContext<State>) => unknown): this {
    requireFunction('onStop', run);
    this.stop = run as (ctx: ActorContext<never>) => unknown;
    return this;
  }

  /**
   * Lets XState logic handle what arrives. Each envelope is one event: `type` is the capability id or, without one, the
   * message type; `input` the payload (parsed, if the capability is listed), `envelope` the whole, `ctx` the handling context to reply or settle with.
   */
  logic(logic: AnyActorLogic, capabilities: readonly Capability[] = []): this {
    requireRestart(this.options, 'an agent with logic');
    requireOneAtATime(this.options, 'an agent with logic');
    if (this.actorLogic !== undefined) throw invalidOptions('logic', this.options.id, 'one logic an agent');
    requireFunction('logic.transition', (logic as AnyActorLogic | null | undefined)?.transition);
    if (!Array.isArray(capabilities)) throw invalidOptions('capabilities', capabilities, 'a list of them');
    this.actorLogic = logic;
    for (const declared of capabilities) {
      this.#add({ capability: declared, kind: 'value', run: () => undefined });
    }
    return this;
  }

  /**
   * Says that its state is handed on to the next version of its code, and of what kind it is: what `onStart` made, the state
   * of its transition logic, or the context of its machine. It has to be what JSON can say. `onStart` runs in each life;
   * where a state is handed on, what it returns is dropped.
   *
   * Logic hands its state on without this, too; the schema says more exactly then when two states are of one kind.
   */
  keepsState(schema: z.ZodType): this {
    if (!(schema instanceof z.core.$ZodType)) throw invalidOptions('keepsState', schema, 'a schema');
    if (this.stateSchema !== undefined)
      throw invalidOptions('keepsState', this.options.id, 'one schema an agent');
    this.stateSchema = schema;
    return this;
  }

  /**
   * Makes a state that it can go on with of one that another version has left: `run` is given the state, as JSON, and the
   * snapshot that it was in. `from` is that version, or a range: `1.x`, `^1.2`, `>=1.2 <3`. Several are applied one after the
   * other where one leads to a version that another starts from.
   *
   * - `to` the version whose state `run` makes. @default the agent's own
   */
  migrate<Before, After>(
    from: string,
    run: (state: Before, snapshot: Snapshot) => After,
    { to = this.options.version }: { readonly to?: string } = {},
  ): this {
    requireFunction(`the migration from ${from}`, run);
    requireText('to', to);
    this.migrations.push({ from, isFrom: versionRange('from', from), to, run });
    return this;
  }

  /** The agent's card; its capabilities are those it handles. Throws INVALID_OPTIONS for a default one that is none of them. */
  card(nowMs: number, id = this.options.id): AgentCard {
    const { name, version, description, tier, sandboxId, protocols, defaultCapability } = this.options;
    if (defaultCapability !== undefined && !this.handlers.has(defaultCapability))
      throw invalidOptions('agent.defaultCapability', defaultCapability, 'a capability that it handles');
    return {
      id,
      name,
      version,
      description,
      tier,
      protocols: [...(protocols ?? ['a2a/1.0'])],
      endpoints: [{ transport: 'local' }],
      capabilities: [...this.handlers.values()].map(descriptorOf),
      ...(defaultCapability === undefined ? {} : { defaultCapability }),
      ...contentOnCard(this.content),
      revision: 0,
      ...(sandboxId === undefined ? {} : { sandboxId }),
      origin: 'local',
      lastSeenAt: nowMs,
      ...(this.taint === undefined ? {} : { taint: this.taint }),
    };
  }

  #add(entry: HandlerEntry): this {
    const { id } = requireCapability('capability', entry.capability);
    requireFunction(`the handler of ${id}`, entry.run);
    if (entry.kind === 'stream' && entry.capability.answers === 'message')
      throw invalidOptions(`capability "${id}".answers`, 'message', 'nothing where the answer is a stream');
    if (this.handlers.has(id))
      throw invalidOptions('handle', id, `a capability ${this.options.id} does not handle yet`);
    this.handlers.set(id, entry);
    return this;
  }
}

/** What a card says of a capability and of how it is answered. */
export const descriptorOf = ({ capability, kind }: HandlerEntry): CapabilityDescriptor => ({
  ...describeCapability(capability),
  ...(kind === 'stream' ? { streams: true } : {}),
});

/** What a card says of resources and prompts, where there are any. */
function contentOnCard({
  resources,
  templates,
  prompts,
}: OfferedContent<HandlingContext<never>>): Pick<AgentCard, 'resources' | 'resourceTemplates' | 'prompts'> {
  return {
    ...(resources.length === 0 ? {} : { resources: [...resources] }),
    ...(templates.length === 0 ? {} : { resourceTemplates: [...templates] }),
    ...(prompts.length === 0 ? {} : { prompts: [...prompts] }),
  };
}

/** Starts the definition of an agent. Fails with INVALID_OPTIONS naming field and value, as its methods do. */
export const defineAgent = (options: AgentOptions): AgentDefinition => new AgentDefinition(options);
