import type { AgentDefinition } from '../../runtime/agent/agent-definition.ts';
import { catalogueEvent, catalogueHash, unapproved } from '../../runtime/protocol/catalogue-approval.ts';
import { capabilityNotFound, isOrreryError, reasonOf } from '../../runtime/protocol/errors.ts';
import type {
  McpCallOptions,
  McpCompleting,
  McpConnection,
  McpDialer,
  McpOffer,
  McpTool,
} from '../../runtime/protocol/mcp-link.ts';
import type { Clock } from '../../runtime/protocol/seams.ts';
import type { ActorContext, AgentClient, AgentOffer, HandlingContext } from '../../runtime/public.ts';
import { resourceChanged } from '../tools/resource-updates.ts';
import type { McpMemberSettings } from './mcp-server-options.ts';
import { offerContent } from './offer-content.ts';
import { type MountedTool, mountedTool } from './tool-capability.ts';
import { untilAborted } from '../../runtime/protocol/promises.ts';

/** Shortest interval of reading the lists again, milliseconds. */
const REFRESH_MS = 200;
/** How many removed tools are remembered. A request for one that was removed earlier cannot be under way any more. */
const MAX_GONE = 1_000;

export interface MountedServerDeps {
  readonly dialer: McpDialer;
  readonly clock: Clock;
  readonly settings: McpMemberSettings;
  /** The definition of its agent, whose handlers follow the server's lists. */
  readonly definition: AgentDefinition<MountedServer>;
  readonly client: AgentClient;
}

/** One actor of an MCP server's agent, with its connection. */
export class MountedServer {
  readonly #deps: MountedServerDeps;
  readonly #hangCheck: HangCheck;
  #connection: McpConnection | undefined;
  #life: ActorContext | undefined;
  #isStopped = false;
  #isStale = false;
  /** Hash of the last catalogue that was reported. */
  #reportedHash: string | undefined;
  #refreshing: Promise<void> | undefined;
  #stopTimer: () => void = () => undefined;

  constructor(deps: MountedServerDeps) {
    this.#deps = deps;
    const { answerMs } = deps.settings;
    this.#hangCheck = new HangCheck(
      () => (this.#connection as McpConnection).answers(answerMs),
      (hasHeld) => {
        const notSent = hasHeld ? '; what it was to be asked next was not sent' : '';
        this.#fail(`it says nothing at all within ${answerMs} ms${notSent}`);
      },
    );
  }

  /** Connects and offers what the server lists. Rejects if the server cannot be used, and leaves nothing open then. */
  async start(ctx: ActorContext): Promise<void> {
    this.#life = ctx;
    const { dialer } = this.#deps;
    // Reasons for a failed start, or for its end, quote the server too.
    ctx.markOutside(sourceOf(ctx.self));
    const connection = await dialer.connect(
      {
        onChange: () => this.#refreshLater(),
        onUpdate: (uri) => this.#updated(uri),
        onLog: (text) => this.#note(text),
      },
      ctx.signal,
    );
    this.#connection = connection;
    const { name, version, protocolVersion } = connection.identity;
    this.#note(`connected to ${name} ${version}, in MCP ${protocolVersion}`);
    try {
      this.#apply(await connection.offer({ signal: ctx.signal }));
    } catch (error) {
      this.#isStopped = true;
      await connection.close();
      throw error;
    }
    void connection.lost.then((reason) => this.#fail(reason));
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#stopTimer();
    await this.#connection?.close();
  }

  /** Calls a tool, once, while the caller waits. */
  call(tool: McpTool, input: unknown, ctx: HandlingContext<MountedServer>): Promise<unknown> {
    return this.#ask(ctx, tool.name, (connection, options) => connection.call(tool, input, options));
  }

  read(uri: string, ctx: HandlingContext<MountedServer>): ReturnType<McpConnection['read']> {
    return this.#ask(ctx, uri, (connection, options) => connection.read(uri, options));
  }

  render(
    prompt: string,
    args: Readonly<Record<string, string>>,
    ctx: HandlingContext<MountedServer>,
  ): ReturnType<McpConnection['render']> {
    return this.#ask(ctx, prompt, (connection, options) => connection.render(prompt, args, options));
  }

  complete(asked: McpCompleting, ctx: HandlingContext<MountedServer>): ReturnType<McpConnection['complete']> {
    return this.#ask(ctx, asked.argument.name, (connection, options) => connection.complete(asked, options));
  }

  /** Runs a request. Its answer is tainted, also an error. */
  async #ask<Result>(
    ctx: HandlingContext<MountedServer>,
    what: string,
    run: (connection: McpConnection, options: McpCallOptions) => Promise<Result>,
  ): Promise<Result> {
    const connection = this.#connection as McpConnection;
    const { deadlineAtMs } = ctx.envelope.metadata ?? {};
    let reached = 0;
    const options: McpCallOptions = {
      signal: ctx.signal,
      ...(deadlineAtMs === undefined ? {} : { timeoutMs: Math.max(1, deadlineAtMs - ctx.now()) }),
      onProgress: (fraction, note) => {
        reached = fraction ?? reached;
        ctx.progress(reached, note);
      },
    };
    ctx.markOutside(sourceOf(ctx.self));
    try {
      await this.#hangCheck.mayGoOn(ctx.signal);
      return await ctx.effect(`${ctx.self} ${what}`, () => run(connection, options));
    } catch (error) {
      // After a timeout, checks whether the server hangs or is only slow.
      const isSilent = ctx.signal.aborted || (isOrreryError(error) && error.code === 'DEADLINE_EXCEEDED');
      if (isSilent && !this.#isStopped) this.#hangCheck.begin();
      throw error;
    }
  }

  #fail(reason: string): void {
    if (this.#isStopped) return;
    this.#deps.client.fail(new Error(`${this.#deps.dialer.target} is no use any more: ${reason}`));
  }

  #refreshLater(): void {
    this.#isStale = true;
    if (this.#refreshing !== undefined || this.#isStopped) return;
    this.#refreshing = this.#refresh().finally(() => {
      this.#refreshing = undefined;
      if (!this.#isStale || this.#isStopped) return;
      this.#stopTimer = this.#deps.clock.setTimer(REFRESH_MS, () => this.#refreshLater());
    });
  }

  async #refresh(): Promise<void> {
    this.#isStale = false;
    try {
      const offer = await this.#connection?.offer();
      if (offer !== undefined && !this.#isStopped) this.#apply(offer);
    } catch (error) {
      this.#note(`what has changed could not be read: ${reasonOf(error)}`);
    }
  }

  #apply(offer: McpOffer): void {
    const { definition } = this.#deps;
    const mounted = this.#mountAll(offer.tools);
    // The most recently removed come first.
    const former = [...definition.handlers].filter(([id]) => !mounted.has(id)).slice(0, MAX_GONE);
    definition.handlers.clear();
    for (const { tool, capability } of mounted.values())
      definition.handle(capability, (input, ctx) => ctx.state.call(tool, input, ctx) as never);
    // A request for a removed tool may still come from a thread that does not know yet.
    for (const [id, { capability }] of former)
      definition.handle(capability, (): never => {
        throw capabilityNotFound(id);
      });
    const left = [...offer.left, ...offerContent(definition, offer)];
    if (left.length > 0) this.#note(`of what it offers is left out: ${left.slice(0, 20).join('; ')}`);
    const { content } = definition;
    this.#connection?.watch(content.resources.map(({ uri }) => uri));
    this.#offer({
      capabilities: [...mounted.values()].map(({ descriptor }) => descriptor),
      ...(content.resources.length === 0 ? {} : { resources: [...content.resources] }),
      ...(content.templates.length === 0 ? {} : { resourceTemplates: [...content.templates] }),
      ...(content.prompts.length === 0 ? {} : { prompts: [...content.prompts] }),
    });
  }

  /** Offers a catalogue. It is tainted, unless the owner of the system has approved it. */
  #offer(offer: AgentOffer): void {
    const { client, settings } = this.#deps;
    const hash = catalogueHash(offer);
    const taint = [sourceOf(client.agentId)];
    const reason = unapproved(client.agentId, hash, settings.catalogue.approved);
    client.offer(reason === undefined ? offer : { ...offer, taint });
    if (reason !== undefined && hash !== this.#reportedHash)
      client.note(catalogueEvent(client.agentId, { reason, taint }));
    this.#reportedHash = hash;
  }

  #mountAll(tools: readonly McpTool[]): ReadonlyMap<string, MountedTool> {
    const { tools: wanted, privileged } = this.#deps.settings;
    const mounted = new Map<string, MountedTool>();
    for (const tool of tools) {
      if (wanted?.includes(tool.name) === false) continue;
      const one = mountedTool(tool, privileged === true || privileged.includes(tool.name));
      if (!mounted.has(one.capability.id)) mounted.set(one.capability.id, one);
    }
    return mounted;
  }

  #updated(uri: string): void {
    if (!this.#isStopped && this.#life !== undefined) resourceChanged(this.#life, uri);
  }

  #note(reason: string): void {
    const { client } = this.#deps;
    client.note({ type: 'server-log', agentId: client.agentId, reason });
  }
}

/** The taint of everything from the server of an agent. */
export const sourceOf = (agentId: string): string => `mcp:${agentId}`;

/** Checks whether a server hangs, and holds new requests back meanwhile. */
export class HangCheck {
  readonly #answers: () => Promise<boolean>;
  readonly #onHang: (hasHeld: boolean) => void;
  #checking: Promise<boolean> | undefined;
  #held = 0;

  /**
   * - `answers` whether the server answers a probe; never rejects.
   * - `onHang`  called when it does not. `hasHeld`: requests were held back, and not sent.
   */
  constructor(answers: () => Promise<boolean>, onHang: (hasHeld: boolean) => void) {
    this.#answers = answers;
    this.#onHang = onHang;
  }

  /** Starts a check, unless one is under way: a request had no answer. */
  begin(): void {
    this.#checking ??= this.#answers().then((answers) => {
      this.#checking = undefined;
      if (!answers) this.#onHang(this.#held > 0);
      return answers;
    });
  }

  /** Resolves when a request may be sent; rejects if the server hangs, or the signal aborts. */
  async mayGoOn(signal: AbortSignal): Promise<void> {
    if (this.#checking === undefined) return;
    this.#held += 1;
    try {
      if (!(await untilAborted(this.#checking, signal))) throw new Error('it hangs, and nothing was sent');
    } finally {
      this.#held -= 1;
    }
  }
}
