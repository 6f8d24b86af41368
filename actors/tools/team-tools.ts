import { bindMethods } from '../../runtime/protocol/bind-methods.ts';
import {
  COMPLETE_ARGUMENT,
  READ_RESOURCE,
  RENDER_PROMPT,
} from '../../runtime/protocol/content-capabilities.ts';
import type { Capability } from '../../runtime/protocol/capability.ts';
import { notSerialisable } from '../../runtime/protocol/errors.ts';
import { findUnserialisable } from '../../runtime/protocol/json.ts';
import type { Clock } from '../../runtime/protocol/seams.ts';
import type { Taint } from '../../runtime/protocol/taint.ts';
import type { PromptMessage, ResourceContent, Tool, ToolInvocation } from '../../runtime/protocol/tool.ts';
import { toolNotFound } from '../../runtime/protocol/tool-errors.ts';
import type {
  CallOptions,
  Completing,
  OfferedPrompt,
  OfferedResource,
  OfferedTemplate,
  ToolChange,
  ToolService,
} from '../../runtime/protocol/tool-service.ts';
import type { Asking, Progress } from '../../runtime/public.ts';
import { DEFAULT_CALL_MS, requireCallOptions, requireCompleting, requireReadOnly } from './call-options.ts';
import { type Catalogue, taintOfOffers } from './catalogue.ts';
import type { InvocationLog } from './invocation-log.ts';
import type { OfferIndex } from './offer-index.ts';
import { type CallRecorder, recordCall } from './record-call.ts';
import { whoseTool } from './whose-tool.ts';

/**
 * Who calls tools: an agent with some work in hand, or the embedder.
 *
 * - `note`        tells the system of a call.
 * - `taint`       where what the caller has in it came from outside.
 * - `absorbTaint` taints the caller with what it is shown.
 */
export interface ToolCaller {
  readonly callerId: string;
  ask(asking: Asking): Promise<unknown>;
  stream(asking: Asking): AsyncIterable<unknown>;
  readonly note: CallRecorder['note'];
  readonly taint?: CallRecorder['taint'];
  readonly absorbTaint?: (taint: Taint) => void;
}

/**
 * - `offers` what there is to be called.
 * - `log`    of the calls.
 */
export interface TeamToolsDeps {
  readonly clock: Clock;
  readonly offers: OfferIndex;
  readonly log: InvocationLog;
  readonly caller: ToolCaller;
  readonly onUpdate: ToolService['onUpdate'];
}

/** The tools of the agents of a running system, called in the name of one of them or of the embedder. */
export class TeamTools implements ToolService {
  readonly #deps: TeamToolsDeps;

  static {
    bindMethods(TeamTools.prototype);
  }

  constructor(deps: TeamToolsDeps) {
    this.#deps = deps;
  }

  get #catalogue(): Catalogue {
    return this.#deps.offers.catalogue;
  }

  tools(): readonly Tool[] {
    return this.#shown(this.#catalogue.tools);
  }

  tool(name: string): Tool | undefined {
    const tool = this.#catalogue.tool(name);
    if (tool !== undefined) this.#shown([tool]);
    return tool;
  }

  resources(): readonly OfferedResource[] {
    return this.#shown(this.#catalogue.resources);
  }

  templates(): readonly OfferedTemplate[] {
    return this.#shown(this.#catalogue.templates);
  }

  prompts(): readonly OfferedPrompt[] {
    return this.#shown(this.#catalogue.prompts);
  }

  async call(name: string, args: unknown, options: CallOptions = {}): Promise<unknown> {
    const tool = this.#catalogue.tool(name);
    if (tool === undefined) throw toolNotFound(name);
    const { clock, log, caller } = this.#deps;
    const { note, taint } = caller;
    const callerId = options?.as?.id ?? caller.callerId;
    const call = (): Promise<unknown> => this.#call(tool, args, options);
    return recordCall({ clock, log, note, taint }, { tool, args, callerId }, call);
  }

  async read(uri: string, options: CallOptions = {}): Promise<readonly ResourceContent[]> {
    return this.#askFor(this.#catalogue.requireOwnerOf(uri), READ_RESOURCE, { uri }, options);
  }

  async render(
    name: string,
    args: Readonly<Record<string, string>>,
    options: CallOptions = {},
  ): Promise<{ readonly description?: string; readonly messages: readonly PromptMessage[] }> {
    const { agentId, ownName } = this.#catalogue.ownerOfPrompt(name);
    const asked = { prompt: ownName, arguments: { ...args } };
    const { description, messages } = await this.#askFor(agentId, RENDER_PROMPT, asked, options);
    return description === undefined ? { messages } : { description, messages };
  }

  async complete(completing: Completing, options: CallOptions = {}): Promise<readonly string[]> {
    requireCompleting(completing);
    const { agentId, asked } = this.#catalogue.completionOf(completing);
    return this.#askFor(agentId, COMPLETE_ARGUMENT, asked as never, options);
  }

  invocations(): readonly ToolInvocation[] {
    const { log, caller } = this.#deps;
    if (log.taint !== undefined) caller.absorbTaint?.(log.taint);
    return log.list();
  }

  onChange(listener: (change: ToolChange) => void): () => void {
    return this.#deps.offers.onChange(listener);
  }

  onUpdate(listener: (uri: string) => void): () => void {
    return this.#deps.onUpdate(listener);
  }

  /** Listing tools taints the caller with what their names, descriptions and schemas say. Calling one by its name does not. */
  #shown<Item extends { readonly taint?: Taint }>(items: readonly Item[]): readonly Item[] {
    const taint = taintOfOffers(items);
    if (taint !== undefined) this.#deps.caller.absorbTaint?.(taint);
    return items;
  }

  async #call(tool: Tool, args: unknown, options: CallOptions): Promise<unknown> {
    const { agentId, capability, streams } = tool;
    requireCallOptions(options);
    requireReadOnly(tool, options);
    const fault = findUnserialisable(args, 'arguments');
    if (fault !== undefined) throw notSerialisable(fault.path, fault.kind);
    const asking = this.#asking(agentId, capability, args, options);
    if (!streams) return this.#deps.caller.ask(asking);
    const chunks: unknown[] = [];
    for await (const chunk of this.#deps.caller.stream(asking)) chunks.push(chunk);
    return chunks;
  }

  /** Asks an agent for a resource, a prompt or a completion, under the same terms as a tool. */
  async #askFor<Input, Output>(
    agentId: string,
    { id }: Capability<Input, Output>,
    input: Input,
    options: CallOptions,
  ): Promise<Output> {
    try {
      requireCallOptions(options);
      return (await this.#deps.caller.ask(this.#asking(agentId, id, input, options))) as Output;
    } catch (error) {
      throw whoseTool(error, agentId);
    }
  }

  #asking(recipient: string, capability: string, payload: unknown, options: CallOptions): Asking {
    const { as, taint, deadlineAtMs, budget, signal, metadata, onProgress, onReport, onTaint } = options;
    const hear = onProgress === undefined && onReport === undefined ? undefined : hearing(options);
    return {
      recipient,
      capability,
      payload,
      isTool: true,
      deadlineAtMs: deadlineAtMs ?? this.#deps.clock.now() + DEFAULT_CALL_MS,
      ...(as && {
        onBehalfOf: {
          id: as.id,
          tier: as.tier,
          ...(as.sandboxId !== undefined && { sandboxId: as.sandboxId }),
          ...(as.chargedAs !== undefined && { chargedAs: as.chargedAs }),
          ...(as.tenant !== undefined && { tenant: as.tenant }),
          ...(as.roles !== undefined && { roles: as.roles }),
        },
      }),
      ...(taint && { taint }),
      ...(budget && { budget }),
      ...(signal && { signal }),
      ...(metadata && { metadata }),
      ...(hear && { onProgress: hear }),
      ...(onTaint && { onTaint }),
    };
  }
}

/** Listens to progress and checkpoints, not to reports. */
const hearing =
  ({ onProgress, onReport }: CallOptions) =>
  (progress: Progress): void => {
    if ('report' in progress) return void onReport?.(progress.report);
    const { fraction, note } = progress;
    onProgress?.(note === undefined ? { fraction } : { fraction, note });
  };
